// Browser tests run against the built binary (`make test-browser` builds it), on a data
// folder and a port of its own. E2E_URL tests a server that runs already instead.
//
//   E2E_URL    address under test; set here when the binary is started
//   E2E_TOKEN  an admin's API token for that server
//   E2E_DOCS   set, the picture of the README is taken anew
//   CHROMIUM   browser to drive, /usr/bin/chromium by default
import { randomUUID } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "@playwright/test";

// This file is read by the main process and again by each worker, which inherits the
// environment: only the first reading finds no address and makes one.
const startsServer = !process.env.E2E_URL || process.env.E2E_DATA !== undefined;
if (!process.env.E2E_URL) {
  process.env.E2E_URL = `http://127.0.0.1:${await freePort()}`;
  process.env.E2E_TOKEN = randomUUID();
  process.env.E2E_DATA = dataFolder();
}
const url = process.env.E2E_URL;

export default defineConfig({
  testDir: ".",
  outputDir: "test-results",
  workers: 1,
  timeout: 60_000,
  forbidOnly: !!process.env.CI,
  reporter: [["list"]],
  use: {
    baseURL: url,
    viewport: { width: 1440, height: 900 },
    trace: "retain-on-failure",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), // Chromium's sandbox refuses root
      ],
    },
  },
  ...(startsServer && {
    webServer: {
      command: `../bin/weftline serve --addr ${new URL(url).host} --data-dir ${process.env.E2E_DATA}`,
      env: {
        WEFTLINE_BOOTSTRAP_TOKEN: process.env.E2E_TOKEN ?? "",
        WEFTLINE_EGRESS_ALLOW: "127.0.0.0/8",
        WEFTLINE_LOG_LEVEL: "warn",
      },
      url: `${url}/readyz`,
      timeout: 60_000,
      reuseExistingServer: false,
      gracefulShutdown: { signal: "SIGTERM", timeout: 20_000 },
      stdout: "ignore",
      stderr: "pipe",
    },
  }),
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

// Made open enough for the user that a root-started database drops to.
function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "weftline-e2e-"));
  chmodSync(folder, 0o711);
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
