/** Every step of the scenario, by name. */

import { deadline, invalidArgument, missingMemory, trace } from "./calling.js";
import type { Step } from "./described.js";
import { allocate, embed, health, list, recall, search, watch } from "./reading.js";
import { sameRequestId, storeByStream, storeThree } from "./writing.js";

export const STEPS: Readonly<Record<string, Step>> = {
  health,
  store_three: storeThree,
  store_by_stream: storeByStream,
  same_request_id: sameRequestId,
  recall,
  search,
  allocate,
  embed,
  list,
  watch,
  invalid_argument: invalidArgument,
  missing_memory: missingMemory,
  deadline,
  trace,
};
