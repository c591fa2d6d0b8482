// The application answers, its first page is whole, and it asks no other host for anything.
import { expect, test } from "./quiet";

test("health, readiness and metrics answer", async ({ request }) => {
  for (const path of ["/healthz", "/readyz", "/metrics"]) {
    expect((await request.get(path)).status(), path).toBe(200);
  }
});

test("the first page shows without a complaint", async ({ page, baseURL }) => {
  const hosts = new Set<string>();
  page.on("request", (r) => hosts.add(new URL(r.url()).origin));
  const answer = await page.goto("/");
  expect(answer?.status()).toBe(200);
  await expect(page.getByRole("main")).toBeVisible();
  await expect(page).toHaveTitle(/Weftline/);
  await page.waitForLoadState("networkidle");
  expect([...hosts]).toEqual([new URL(baseURL ?? "").origin]);
});

test("the content security policy lets nothing inline or evaluated run", async ({ page }) => {
  const policy = (await page.goto("/"))?.headers()["content-security-policy"] ?? "";
  expect(policy).toContain("default-src");
  expect(policy).not.toContain("unsafe-");
});

test("fonts come from the application itself", async ({ page }) => {
  await page.goto("/");
  const loaded = await page.evaluate(async () => {
    await document.fonts.ready;
    return [...document.fonts].filter((f) => f.status === "loaded").map((f) => f.family.replaceAll('"', ""));
  });
  expect(loaded).toContain("Inter Variable");
});

test("an unknown page says so", async ({ page, expectNoise }) => {
  expectNoise(/404/);
  expect((await page.goto("/no-such-page"))?.status()).toBe(404);
  await expect(page.getByRole("main")).toBeVisible();
});
