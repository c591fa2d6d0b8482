// Every page: nothing serious for axe, whole at 360 px and in the dark, one picture each.
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "./quiet";
import type { Page } from "@playwright/test";

test.setTimeout(300_000);

const pages = [
  ["home", "/"],
  ["workflows", "/workflows"],
  ["new", "/new"],
  ["workflow", "/workflows/refund-approval"],
  ["designer", "/workflows/refund-approval/edit"],
  ["versions", "/workflows/refund-approval/versions"],
  ["tests", "/workflows/order-saga/tests"],
  ["run", "/workflows/refund-approval/run"],
  ["run-list", "/workflows/order-saga/run"],
  ["executions", "/executions"],
  ["tasks", "/tasks"],
  ["reviews", "/reviews"],
  ["schedules", "/schedules"],
  ["schedule-new", "/schedules/new?workflow=nightly-feeds"],
  ["workers", "/workers"],
  ["settings", "/settings"],
  ["team", "/settings/team"],
  ["connections", "/settings/connections?kind=http&auth=oauth2"],
  ["secrets", "/settings/secrets"],
  ["audit", "/settings/audit"],
  ["account", "/account"],
] as const;

for (const [name, address] of pages) {
  test(`${name} is accessible, and whole on any screen`, async ({ page }) => {
    await page.goto(address);
    await settle(page);
    await page.screenshot({ path: `shots/page-${name}.png` });
    expect(await serious(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.screenshot({ path: `shots/page-${name}-dark.png` });
    expect(await serious(page), "in the dark").toEqual([]);
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 360, height: 740 });
    await page.screenshot({ path: `shots/page-${name}-360.png` });
    expect(await sideways(page), "pixels that stick out at 360 px").toBeLessThanOrEqual(0);
  });
}

test("fingers find what can be pressed on every page", async ({ browser }) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  const small: string[] = [];
  for (const [name, address] of pages.filter(([name]) => name !== "designer")) {
    await page.goto(address);
    for (const found of await page.evaluate(tooSmall)) small.push(`${name}: ${found}`);
  }
  expect(small).toEqual([]);
  await context.close();
});

test("a schedule is made by keyboard, after a look at its next times", async ({ page }) => {
  await page.goto("/schedules");
  await page.getByRole("link", { name: "New schedule" }).first().press("Enter");
  await page.getByLabel("Workflow").selectOption("nightly-feeds");
  await page.getByRole("button", { name: "Go on" }).press("Enter");
  await page.getByLabel("Cron line").fill("30 2 * * 1-5");
  await expect(page.getByLabel("Time zone")).toHaveValue(/./); // the viewer's own
  // As resizing a field does; putting the form in place anew must not copy it against the policy.
  await page.getByLabel("Cron line").evaluate((field: HTMLElement) => (field.style.width = "300px"));
  await page.getByLabel("Cron line").press("End"); // the next times come while it is typed
  await page.keyboard.type(",6");
  await expect(page.getByText("It would start")).toBeVisible();
  await expect(page.locator("#schedule-next").getByRole("listitem")).toHaveCount(5);
  // Another way to say when keeps what was typed in this one.
  await page.getByRole("button", { name: "Every so often" }).press("Enter");
  await page.getByLabel("Every").fill("6h");
  await page.getByRole("button", { name: "By a cron line" }).press("Enter");
  await expect(page.getByLabel("Cron line")).toHaveValue("30 2 * * 1-5,6");
  await page.getByLabel("Cron line").fill("30 2 * * 1-5");
  await page.getByLabel("Cron line").press("Enter");
  const made = page.getByRole("row", { name: /nightly-feeds.*Mondays to Fridays at 02:30/ });
  await made.getByRole("link", { name: /^Change/ }).click();
  await expect(page.locator("#schedule-next").getByRole("listitem")).toHaveCount(5);
  await page.screenshot({ path: "shots/schedule-change.png" });
  expect(await serious(page)).toEqual([]);
  await page.getByLabel("Cron line").fill("45 3 * * 1-5");
  await page.getByRole("button", { name: "Change the schedule" }).click();
  const row = page.getByRole("row", { name: /nightly-feeds.*Mondays to Fridays at 03:45/ });
  await expect(row).toBeVisible();
  await row.locator("summary", { hasText: "Delete" }).click();
  await row.getByRole("button", { name: "Delete the schedule" }).click();
  await expect(row).toBeHidden();
});

test("an execution from its form to its end is accessible, printed too", async ({ page }) => {
  await page.goto("/workflows/refund-approval/run");
  await page.getByRole("button", { name: "Run version 1" }).click();
  await expect(page.locator(".standing-first")).toContainText("Waiting for a person", { timeout: 60_000 });
  await settle(page);
  await page.screenshot({ path: process.env.E2E_DOCS ? "../docs/execution.png" : "shots/execution.png" });
  expect(await serious(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: "shots/execution-dark.png" });
  expect(await serious(page), "in the dark").toEqual([]);
  await page.emulateMedia({ colorScheme: "light", media: "print" });
  await page.screenshot({ path: "shots/execution-print.png", fullPage: true });
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width: 360, height: 740 });
  await page.screenshot({ path: "shots/execution-360.png" });
  expect(await sideways(page)).toBeLessThanOrEqual(0);

  await page.getByRole("link", { name: "Open the task" }).first().click();
  await settle(page);
  expect(await serious(page)).toEqual([]);
  await page.screenshot({ path: "shots/task-360.png" });
});

test("what does not fit stays typed, with the complaint at its field", async ({ page, expectNoise }) => {
  expectNoise(/422/);
  await page.goto("/workflows/refund-approval/run");
  await page.getByLabel("Amount in euros").fill("much");
  await page.getByRole("button", { name: "Run version 1" }).click();
  const amount = page.getByLabel("Amount in euros");
  await expect(amount).toHaveValue("much");
  await expect(amount).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByRole("alert")).toContainText("is not a number");
  expect(await serious(page)).toEqual([]);
});

test("the second answer to a task is told who was first", async ({ page, context, expectNoise }) => {
  expectNoise(/409/);
  await page.routeWebSocket(/\/api\/v1\/live/, () => undefined); // the page hears of nothing by itself
  await page.goto("/workflows/refund-approval/run");
  await page.getByRole("button", { name: "Run version 1" }).click();
  const open = page.getByRole("link", { name: "Open the task" }).first();
  await expect(open).toBeVisible({ timeout: 60_000 });
  await open.click();
  const other = await context.newPage();
  await other.goto(page.url());
  await other.getByRole("button", { name: "Reject" }).click();
  await expect(other.getByText("What happened next")).toBeVisible();
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByRole("alert")).toContainText("had already answered rejected");
});

/** Fonts there, first live states taken in. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  await page.waitForLoadState("networkidle");
}

async function serious(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter((v) => v.impact === "serious" || v.impact === "critical")
    .map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(" | ")}`);
}

function sideways(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** Buttons, choices and links that stand alone and are less than 44 px high, their own reach counted. */
function tooSmall(): string[] {
  const reach = (element: Element) => {
    const own = element.getBoundingClientRect().height;
    const more = getComputedStyle(element, "::after");
    return more.position === "absolute" ? own - parseFloat(more.top) - parseFloat(more.bottom) : own;
  };
  return [...document.querySelectorAll(".button, .chip, .tabs a, .row-link, .rail-link, select, input:not([type=hidden], [type=checkbox], [type=radio])")]
    .filter((element) => element.checkVisibility() && reach(element) > 1 && reach(element) < 43.5)
    .map((element) => `${element.className || element.tagName} "${element.textContent?.trim().slice(0, 30)}" ${reach(element)} px`);
}
