// A service on loopback that activities call while a test looks on.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Service {
  /** Host and port. */
  address: string;
  /** Method and path of each request, in the order in which they came. */
  calls: string[];
  close(): void;
}

/** Answers every request with a value as JSON; 200 unless told otherwise by its path. */
export async function service(value: unknown, statusOf: (path: string) => number = () => 200): Promise<Service> {
  const calls: string[] = [];
  const server = createServer((request, answer) => {
    calls.push(`${request.method} ${request.url}`);
    answer.statusCode = statusOf(request.url ?? "");
    answer.setHeader("Content-Type", "application/json");
    answer.end(JSON.stringify(value));
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, calls, close: () => void server.close() };
}
