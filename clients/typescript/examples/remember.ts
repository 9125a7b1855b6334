/** Stores two memories and recalls what matters, within a budget of tokens. */

import { MemoryType, Satchel, failureOf } from "@satchel/client";

using satchel = new Satchel({ project: "example" }); // SATCHEL_URL, else 127.0.0.1:50051

try {
  await satchel.remember("We chose PostgreSQL over MySQL because the ledger needs ACID.", {
    wing: "billing",
    type: MemoryType.DECISION,
    tags: ["database"],
  });
  const last = await satchel.remember("Invoices go out on the first Monday of the month.", { wing: "billing" });

  const answer = await satchel.recall("Which database does the ledger use, and why?", {
    wing: "billing",
    budget: 200,
    minRevision: last.revision, // sees both writes
  });
  console.log(answer.context);
  console.log(`${answer.totalTokens} of ${answer.receipt?.budget} tokens`);
} catch (error) {
  const { code, reason, message, metadata } = failureOf(error);
  console.error(`${code} ${reason ?? ""}: ${message}`, metadata);
  process.exitCode = 1;
}
