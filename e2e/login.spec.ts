// Sign-in with a real OpenID provider on a second site: the application on localhost, the provider on
// 127.0.0.1. On one site a browser sends cookies that it keeps back on two, so faults would not show.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { DesignerPage } from "./designer-page";
import { expect, test } from "./quiet";
// @ts-expect-error a script without types
import { freePort, startApplication, startProvider } from "./with-provider.mjs";

interface Part {
  url: string;
  stop(): Promise<void>;
}

let provider: Part;
let app: Part;
let data: string;
let providerPort: number;
let appURL: string;

test.setTimeout(60_000);

test.beforeAll(async () => {
  const port = await freePort();
  providerPort = await freePort();
  appURL = `http://localhost:${port}`;
  data = mkdtempSync(join(tmpdir(), "weftline-login-"));
  provider = await startProvider({ port: providerPort, appURL, control: true });
  app = await startApplication({ binary: "../bin/weftline", port, data, issuer: provider.url });
});

test.afterAll(async () => {
  await app?.stop();
  await provider?.stop();
  rmSync(data, { recursive: true, force: true });
});

test.beforeEach(({ expectNoise }) => {
  expectNoise(/127\.0\.0\.1/); // the provider's own pages: it has no icon, among other things
});

async function control(what: string, body: object = {}): Promise<void> {
  const answer = await fetch(`${provider.url}/control/${what}`, { method: "POST", body: JSON.stringify(body) });
  expect(answer.ok).toBe(true);
}

/** fills the provider's form in. */
async function identify(page: Page, name: string): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(name);
  await page.getByRole("button", { name: "Sign in" }).click();
}

async function signIn(page: Page, name: string, path = "/"): Promise<void> {
  await page.goto(appURL + path);
  await page.getByRole("link", { name: /^Sign in with/ }).click();
  await identify(page, name);
}

async function expectSignedIn(page: Page, name: string): Promise<void> {
  await expect(page.locator(".rail-user")).toHaveText(name);
}

test("a person signs in and comes to where they wanted to go", async ({ page }) => {
  await signIn(page, "eve", "/schedules");
  await expect(page).toHaveURL(`${appURL}/schedules`);
  await expectSignedIn(page, "eve");
  const cookies = await page.context().cookies(appURL);
  expect(cookies.map((c) => [c.name, c.httpOnly, c.secure, c.sameSite])).toEqual([["__Host-weftline_session", true, true, "Lax"]]);
  await page.goto(`${appURL}/access`);
  await expect(page.getByRole("row", { name: /weftline-authors author yes/ })).toBeVisible();
});

test("an answer with another state signs nobody in", async ({ page, expectNoise }) => {
  expectNoise(/400/);
  await page.goto(`${appURL}/login/demo/callback?code=stolen&state=guessed`);
  await expect(page.getByRole("heading", { name: "Sign-in did not work" })).toBeVisible();
  await page.getByRole("link", { name: "Sign in again" }).click();
  await identify(page, "vic");
  await expectSignedIn(page, "vic");
});

test("a code that is too old signs nobody in, and the next one does", async ({ page, expectNoise }) => {
  expectNoise(/400/);
  await control("expire", { expired: true });
  await signIn(page, "vic");
  await expect(page.getByText("no longer accepts this sign-in")).toBeVisible();
  await control("expire", { expired: false });
  await page.getByRole("link", { name: "Sign in again" }).click();
  await expectSignedIn(page, "vic");
});

test("a group that is gone takes its role away; who has none is told so", async ({ page, expectNoise }) => {
  await signIn(page, "ada");
  await expectSignedIn(page, "ada");
  const other = await page.context().browser()!.newContext();
  const eve = await other.newPage();
  await signIn(eve, "eve");
  await control("groups", { person: "eve", groups: ["weftline-viewers"] });
  await eve.goto(`${appURL}/login/demo`);
  await eve.goto(`${appURL}/access`);
  await expect(eve.getByRole("row", { name: /weftline-authors author no/ })).toBeVisible();
  await control("groups", { person: "eve", groups: ["weftline-authors"] });
  await other.close();

  expectNoise(/403/);
  const stranger = await page.context().browser()!.newContext();
  const nia = await stranger.newPage();
  await signIn(nia, "nia");
  await expect(nia.getByRole("heading", { name: "Signed in, no access" })).toBeVisible();
  await stranger.close();
});

test("a new key of the provider needs no restart", async ({ page }) => {
  await control("rotate");
  await signIn(page, "ben");
  await expectSignedIn(page, "ben");
});

test("two tabs sign in at once", async ({ page }) => {
  const second = await page.context().newPage();
  await page.goto(`${appURL}/login/demo?return=/tasks`);
  await second.goto(`${appURL}/login/demo?return=/workers`);
  await identify(second, "vic");
  await expect(second).toHaveURL(`${appURL}/workers`);
  await identify(page, "vic");
  await expect(page).toHaveURL(`${appURL}/tasks`);
});

test("signing out ends the session here and at the provider", async ({ page }) => {
  await signIn(page, "vic");
  await page.goto(`${appURL}/account`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: /yes/i }).click(); // the provider's own question
  await expect(page).toHaveURL(/\/login/);
  await page.getByRole("link", { name: /^Sign in with/ }).click();
  await expect(page.getByLabel("Password")).toBeVisible(); // it knows nobody any more
});

test("the provider ends a session, and the open page says so", async ({ page, expectNoise }) => {
  expectNoise(/401/);
  expectNoise(/no valid credentials/); // the socket, if it tries again before the page knows
  await signIn(page, "ben");
  await page.goto(`${appURL}/executions`);
  await expect(page.locator("[data-live]").first()).toBeVisible();
  const gone = await page.context().newPage();
  await gone.goto(`${provider.url}/session/end`);
  await gone.getByRole("button", { name: /yes/i }).click(); // it calls the application from behind
  await expect(page.getByRole("link", { name: "Sign in again" })).toBeVisible({ timeout: 5_000 });
  await page.goto(`${appURL}/executions`);
  await expect(page).toHaveURL(/\/login/);
});

test("a provider that is down is said so, and comes back without a restart", async ({ page }) => {
  await signIn(page, "vic");
  await provider.stop();
  await page.goto(`${appURL}/tasks`); // who is signed in works on
  await expectSignedIn(page, "vic");
  provider = await startProvider({ port: providerPort, appURL, control: true });
  const fresh = await page.context().browser()!.newContext();
  const other = await fresh.newPage();
  await signIn(other, "ada");
  await expectSignedIn(other, "ada");
  await fresh.close();
});

test("the pages hold on a narrow screen and for everybody", async ({ page }) => {
  await signIn(page, "ada");
  await page.setViewportSize({ width: 360, height: 740 });
  for (const path of ["/account", "/access", "/access/check", "/people"]) {
    await page.goto(appURL + path);
    await expect(page.getByRole("main")).toBeVisible();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wide, path).toBeLessThanOrEqual(0);
  }
});

/** signs in in the tab that the page's notice opens, and closes it. */
async function signInBeside(page: Page, name: string): Promise<void> {
  const opening = page.context().waitForEvent("page");
  await page.getByRole("link", { name: "Sign in again" }).click();
  const tab = await opening;
  const choose = tab.getByRole("link", { name: /^Sign in with/ });
  await expect(choose.or(tab.getByLabel("Password"))).toBeVisible();
  if (await choose.isVisible()) await choose.click();
  await expect(tab.getByLabel("Password").or(tab.getByText("You can close this tab"))).toBeVisible();
  if (await tab.getByLabel("Password").isVisible()) await identify(tab, name);
  await expect(tab.getByText("You can close this tab")).toBeVisible();
  await tab.close();
}

test("a sensitive act asks to sign in again, and what was typed is sent after it", async ({ page, expectNoise }) => {
  expectNoise(/40[13]/);
  await signIn(page, "ada", "/settings/secrets");
  await page.getByLabel("Name").fill("TYPED_KEY");
  await page.getByLabel("Value").fill("typed before signing in again");
  await page.getByRole("button", { name: "Save the secret" }).click();
  await expect(page.getByText("This needs a sign-in from just now")).toBeVisible();
  await expect(page.getByLabel("Name")).toHaveValue("TYPED_KEY");
  await signInBeside(page, "ada");
  await page.getByRole("button", { name: "Save the secret" }).click();
  await expect(page.getByRole("cell", { name: "TYPED_KEY", exact: true })).toBeVisible();
});

test("a form that outlives its session is sent by the next one", async ({ page, expectNoise }) => {
  expectNoise(/401/);
  expectNoise(/no valid credentials|WebSocket/);
  await signIn(page, "ada", "/workflows/refund-approval/run");
  const order = page.getByLabel("Order");
  await order.fill("ord_77");
  await page.context().clearCookies({ domain: "localhost" });
  await page.getByRole("button", { name: /^Run version/ }).click();
  await expect(page.getByText("Your session has ended")).toBeVisible();
  await expect(order).toHaveValue("ord_77");
  await signInBeside(page, "ada");
  await expect(order).toHaveValue("ord_77");
  await page.getByRole("button", { name: /^Run version/ }).click();
  await expect(page).toHaveURL(/\/executions\//);
});

test("the designer keeps a draft through an ended session and saves it in the next", async ({ page, expectNoise }) => {
  expectNoise(/40[13]/);
  expectNoise(/no valid credentials|WebSocket/);
  await signIn(page, "ada", "/workflows/refund-approval/edit");
  const designer = new DesignerPage(page);
  await designer.saved();
  await page.locator(".gv-node .gv-card").first().click();
  await page.context().clearCookies({ domain: "localhost" });
  await designer.field("name").fill("Typed without a session");
  await page.keyboard.press("Tab");
  await expect(page.getByText("your session has ended. Your work is kept")).toBeVisible();
  await signInBeside(page, "ada");
  await page.bringToFront();
  await designer.saved();
  await page.reload();
  await expect(page.getByText("Typed without a session").first()).toBeVisible();
});
