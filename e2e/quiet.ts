// A test whose page must stay quiet: it fails on any console error, uncaught exception,
// refused content (CSP) or answer of 400 and above that the test has not announced with
// expectNoise(/part of the complaint/).
import { test as base, expect, type Page } from "@playwright/test";

export { expect };

export const test = base.extend<{ expectNoise: (part: RegExp) => void }>({
  expectNoise: [
    async ({ page }, use) => {
      const noise: string[] = [];
      const expected: RegExp[] = [];
      await listen(page, noise);
      await use((part) => expected.push(part));
      const heard = noise.filter((line) => !expected.some((part) => part.test(line)));
      expect(heard, "what the browser complained about").toEqual([]);
    },
    { auto: true },
  ],
});

async function listen(page: Page, noise: string[]): Promise<void> {
  page.on("console", (m) => {
    if (m.type() === "error") noise.push(`console: ${m.text()} (${m.location().url})`);
  });
  page.on("pageerror", (e) => noise.push(`exception: ${e.message}`));
  page.on("response", (r) => {
    if (r.status() >= 400) noise.push(`answer: ${r.status()} ${r.request().method()} ${r.url()}`);
  });
  await page.exposeFunction("weftlineRefused", (what: string) => noise.push(`csp: ${what}`));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (e) => {
      const report = (window as unknown as { weftlineRefused(what: string): void }).weftlineRefused;
      report(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`);
    });
  });
}
