// Starts the provider of provider.mjs and the application beside it, on ports of their own, and ends both.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

export async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Starts the provider; answers its address and how to end it. */
export async function startProvider({ port, appURL, control = false, quiet = true }) {
  const child = spawn(process.execPath, [join(here, "provider.mjs")], {
    env: { ...process.env, PORT: String(port), APP_URL: appURL, CONTROL: control ? "1" : "" },
    stdio: ["ignore", quiet ? "ignore" : "inherit", quiet ? "ignore" : "inherit"],
  });
  const url = `http://127.0.0.1:${port}`;
  await until(`${url}/.well-known/openid-configuration`, child, "the provider");
  return { url, stop: () => ended(child) };
}

/** Starts the application with that provider; data holds its database. */
export async function startApplication({ binary, port, data, issuer, env = {} }) {
  mkdirSync(data, { recursive: true });
  chmodSync(data, 0o711); // a database that root starts drops to another user
  const config = join(data, "providers.json");
  writeFileSync(config, JSON.stringify({ providers: [providerOf(issuer)] }));
  const child = spawn(binary, ["serve", "--addr", `127.0.0.1:${port}`, "--data-dir", data, "--oidc-config", config], {
    env: { ...process.env, WEFTLINE_LOG_LEVEL: "warn", ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const url = `http://localhost:${port}`;
  await until(`http://127.0.0.1:${port}/readyz`, child, "the application");
  return { url, stop: () => ended(child) };
}

function providerOf(issuer) {
  return {
    id: "demo",
    name: "Demo",
    issuer,
    clientID: "weftline",
    clientSecret: "a-client-secret-for-the-demo-only",
    scopes: ["profile", "email", "groups", "offline_access"],
    rules: JSON.parse(readFileSync(join(here, "demo-rules.json"), "utf8")),
  };
}

async function until(url, child, what) {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${what} ended with ${child.exitCode}`);
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function ended(child) {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
}
