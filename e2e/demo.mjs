// `make demo`: the application with an identity provider and five people, offline. Ends with Ctrl-C.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startApplication, startProvider } from "./with-provider.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const appPort = Number(process.env.DEMO_PORT ?? 8080);
const providerPort = Number(process.env.DEMO_PROVIDER_PORT ?? 9100);
const began = Date.now();

const parts = [];
let stopping = false;
async function stop(code) {
  if (stopping) return;
  stopping = true;
  for (const part of parts.reverse()) await part.stop();
  process.exit(code);
}
process.on("SIGINT", () => void stop(0));
process.on("SIGTERM", () => void stop(0));

try {
  const provider = await startProvider({ port: providerPort, appURL: `http://localhost:${appPort}` });
  parts.push(provider);
  const app = await startApplication({
    binary: join(root, "bin", "weftline"), port: appPort, issuer: provider.url,
    data: process.env.DEMO_DATA ?? join(root, "data", "demo"),
  });
  parts.push(app);
  console.log(`Ready after ${((Date.now() - began) / 1000).toFixed(1)} s: ${app.url}

  name  password  may
  ada   ada       everything (admin)
  eve   eve       write and publish workflows (author)
  ben   ben       approve (reviewer; in the groups support-leads and people-team)
  vic   vic       look (viewer)
  gus   gus       write and publish in another team, globex

Ctrl-C ends both.`);
} catch (error) {
  console.error(`${error.message}. Is another server on port ${appPort} or ${providerPort}? DEMO_PORT and DEMO_PROVIDER_PORT change them.`);
  await stop(1);
}
