/** Which address each service of Satchel has, from the one text that names them. */

const SERVICES = ["allocator", "embedder", "index", "store"] as const;

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** A service of Satchel that may have an address of its own. */
export type ServiceName = (typeof SERVICES)[number];

/** Base URL of each service that has an address, such as `http://127.0.0.1:50051`. */
export type Addresses = Readonly<Partial<Record<ServiceName, string>>>;

/** Where `satchel up` listens unless told otherwise. */
export const DEFAULT_ADDRESS = "127.0.0.1:50051";

/**
 * Reads `HOST:PORT`, for all services, or `store=HOST:PORT,allocator=HOST:PORT,...`, for those that it names.
 *
 * An address is plaintext HTTP/2 unless it begins with `https://`. Throws a `TypeError` that says what is wrong.
 */
export function readAddresses(text: string): Addresses {
  const parts = text.split(",").map((part) => part.trim());
  if (text.includes("=")) return Object.fromEntries(parts.map(readPart));
  const url = baseUrl(text.trim());
  return Object.fromEntries(SERVICES.map((name) => [name, url]));
}

/** Throws a `TypeError` when a secret that is sent to an address would leave this machine in the clear. */
export function refuseInTheClear(addresses: Addresses): void {
  const clear = Object.values(addresses).find(
    (url) => url.startsWith("http:") && !LOOPBACK.test(new URL(url).hostname),
  );
  if (clear !== undefined) {
    throw new TypeError(`The key would go to ${clear} in the clear; write https:// before the address.`);
  }
}

function readPart(part: string): [ServiceName, string] {
  const [name = "", address = ""] = part.split("=", 2);
  const service = SERVICES.find((known) => known === name);
  if (service === undefined) throw new TypeError(`"${part}" names no service; write one of ${SERVICES.join(", ")}.`);
  return [service, baseUrl(address)];
}

function baseUrl(address: string): string {
  const url = /^https?:\/\//.test(address) ? address : `http://${address.replace(/^grpc:\/\//, "")}`;
  if (!URL.canParse(url) || !/:\d+\/?$/.test(url)) {
    throw new TypeError(`"${address}" is no address; write HOST:PORT, such as ${DEFAULT_ADDRESS}.`);
  }
  return url;
}
