// A review as people do it: ann proposes, the reviewer remarks and asks for changes, ann
// revises, the reviewer approves, it is published. Ann works through the API; the pages are
// the reviewer's, who is the admin of local mode.
import AxeBuilder from "@axe-core/playwright";
import type { APIRequestContext, Page } from "@playwright/test";
import { expect, test } from "./quiet";

test.setTimeout(240_000);

const definition = (name: string, total: string, extra = "") => `apiVersion: weftline/v1
kind: Workflow
metadata: {name: ${name}}
spec:
  activities:
    - {id: pay, type: set, outputs: {total: "${total}"}}
    - {id: ask, type: human, needs: [pay], human: {title: "Pay it?", assignee: local, notActor: true, due: 1h}}
${extra}`;

class Person {
  constructor(private api: APIRequestContext, private token: string) {}

  async call(method: string, path: string, data?: unknown, headers: Record<string, string> = {}) {
    const answer = await this.api.fetch(`/api/v1${path}`, {
      method, data: data as string, headers: { Authorization: `Bearer ${this.token}`, ...headers },
    });
    const text = await answer.text();
    return { status: answer.status(), headers: answer.headers(), body: text ? JSON.parse(text) : null };
  }

  async draft(name: string, text: string): Promise<void> {
    const before = await this.api.fetch(`/api/v1/workflows/${name}/draft`, { headers: { Authorization: `Bearer ${this.token}` } });
    const guard: Record<string, string> = before.ok() ? { "If-Match": before.headers()["etag"]! } : { "If-None-Match": "*" };
    const saved = await this.call("PUT", `/workflows/${name}/draft`, text, { "Content-Type": "application/yaml", ...guard });
    expect(saved.status).toBe(200);
  }
}

async function people(api: APIRequestContext) {
  const admin = new Person(api, process.env.E2E_TOKEN!);
  const made = await admin.call("POST", "/tokens", { name: "ann", scopes: ["read", "author"], serviceAccount: { name: "ann", groups: [] } });
  expect(made.status).toBe(201);
  return { admin, ann: new Person(api, made.body.token) };
}

async function whole(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `shots/${name}.png`, fullPage: true });
  const found = await new AxeBuilder({ page }).analyze();
  expect(found.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => v.id + v.nodes[0]?.html)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: `shots/${name}-dark.png`, fullPage: true });
  await page.emulateMedia({ colorScheme: "light" });
  const size = page.viewportSize()!;
  await page.setViewportSize({ width: 360, height: 740 });
  await page.screenshot({ path: `shots/${name}-360.png`, fullPage: true });
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(over, "pixels that stick out at 360 px").toBeLessThanOrEqual(0);
  await page.setViewportSize(size);
}

test("from a proposal to a version", async ({ page, request }) => {
  const { admin, ann } = await people(request);
  const name = `pay-${Date.now().toString(36)}`;
  await ann.draft(name, definition(name, "1"));
  expect((await ann.call("POST", `/workflows/${name}/publish`, { message: "first" })).status).toBe(201);
  try {
    await page.goto("/settings/team");
    await page.getByLabel("Publishing goes through an approved proposal").check();
    await page.getByRole("button", { name: "Save the policy" }).click();
    await expect(page.getByText("The policy is saved")).toBeVisible();
    await whole(page, "settings-team");

    await ann.draft(name, definition(name, "2"));
    const refused = await ann.call("POST", `/workflows/${name}/publish`, {});
    expect([refused.status, refused.body.code]).toEqual([409, "review_required"]);
    await page.goto("/reviews");
    await page.waitForLoadState("networkidle");
    const proposed = await ann.call("POST", `/workflows/${name}/proposals`, { title: "Pay two", description: "One was not enough", reviewers: ["local"] });
    expect(proposed.status).toBe(201);

    const line = page.getByRole("row", { name: new RegExp(`Pay two.*${name}`) }); // comes by itself
    await expect(line).toContainText("you were asked");
    await whole(page, "reviews");
    await line.getByRole("link", { name: "Pay two" }).click();
    await expect(page.getByRole("heading", { name: "Waiting for a review" })).toBeVisible();
    await page.getByLabel("What you think").fill("Why two?");
    await page.getByLabel("About an activity").selectOption("pay");
    await page.getByRole("button", { name: "Remark" }).click();
    await expect(page.getByText("on activity pay")).toBeVisible();
    await page.getByLabel("What you think").fill("Say why in the description of the activity");
    await page.getByRole("button", { name: "Ask for changes" }).click();
    await expect(page.getByRole("heading", { name: "Changes asked for" })).toBeVisible();
    await whole(page, "proposal-changes");
    expect((await ann.call("POST", `/workflows/${name}/proposals/1/publish`, {})).body.code).toBe("review_required");

    await ann.draft(name, definition(name, "2").replace("type: set,", "type: set, description: two are due,"));
    const revised = await ann.call("POST", `/workflows/${name}/proposals/1/revise`);
    expect([revised.status, revised.body.revision]).toEqual([200, 2]);
    await page.reload();
    await expect(page.getByText("changed since")).toBeVisible();
    await page.getByRole("button", { name: "Settled" }).click();
    await expect(page.getByText("settled by local")).toBeVisible();
    await page.getByRole("button", { name: "Approve revision 2" }).click();
    await expect(page.getByRole("heading", { name: "Approved" })).toBeVisible();
    await page.getByRole("button", { name: "Publish version 2" }).click();
    await expect(page.getByRole("heading", { name: "Published" })).toBeVisible();
    const audit = await admin.call("GET", `/audit?action=proposal&target=${encodeURIComponent(name + "#1")}`);
    expect(audit.body.items.map((entry: { action: string }) => entry.action)).toContain("proposal.published");

    // Nobody approves their own change, on the page either.
    await page.goto(`/workflows/${name}/versions`);
    await page.getByRole("button", { name: "Make version 1 the draft" }).click();
    await page.getByLabel("Title").fill("Back to one");
    await page.getByRole("button", { name: "Ask for a review" }).click();
    await expect(page.getByText("you worked on this proposal")).toBeVisible();
    await expect(page.getByRole("button", { name: /^Approve/ })).toHaveCount(0);
    await page.getByRole("button", { name: "Close without publishing" }).click();
    await expect(page.getByRole("heading", { name: "Closed" })).toBeVisible();
  } finally {
    await admin.call("PATCH", "/team/policy", { requireReview: false });
  }
});

test("a conflict is decided field by field", async ({ page, request }) => {
  const { ann } = await people(request);
  const name = `clash-${Date.now().toString(36)}`;
  await ann.draft(name, definition(name, "1"));
  await ann.call("POST", `/workflows/${name}/publish`, {});
  await ann.draft(name, definition(name, "2"));
  await ann.call("POST", `/workflows/${name}/proposals`, { title: "Two" });
  await ann.draft(name, definition(name, "9"));
  await ann.call("POST", `/workflows/${name}/publish`, {});

  await page.goto(`/workflows/${name}/proposals/1`);
  await expect(page.getByText("Both sides changed 1 field")).toBeVisible();
  await whole(page, "proposal-conflict");
  await page.getByLabel("Proposed 2").check();
  await page.getByRole("button", { name: "Carry the change over" }).click();
  await expect(page.getByText("made against what is published")).toBeVisible();
  await page.getByRole("button", { name: "Publish version 3" }).click();
  await expect(page.getByRole("heading", { name: "Published" })).toBeVisible();
});

test("secrets and connections are set on their pages, and no value comes back", async ({ page, expectNoise }) => {
  await page.goto("/settings/secrets");
  await page.getByLabel("Name").fill("PAY_KEY");
  await page.getByLabel("Value").fill("s3cr3t-sentinel");
  await page.getByLabel("Usable by").fill("billing-*");
  await page.getByRole("button", { name: "Save the secret" }).click();
  await expect(page.getByRole("cell", { name: "billing-*" })).toBeVisible();
  expect(await page.content()).not.toContain("s3cr3t-sentinel");
  await whole(page, "settings-secrets");

  await page.goto("/settings/connections");
  await page.getByLabel("Name").fill("payments");
  await page.getByLabel("Address").fill("nonsense");
  expectNoise(/422/);
  await page.getByRole("button", { name: "Save the connection" }).click();
  await expect(page.getByRole("alert")).toContainText("absolute http or https address");
  await expect(page.getByLabel("Name")).toHaveValue("payments");
  await page.getByLabel("Address").fill("http://127.0.0.1:9/x");
  await page.getByRole("button", { name: "Save the connection" }).click();
  await page.getByRole("button", { name: "Test payments" }).click();
  await expect(page.getByRole("status").filter({ hasText: "payments:" })).toBeVisible();
  await whole(page, "settings-connections");
  await page.locator("summary", { hasText: "Delete… payments" }).click();
  await page.getByRole("button", { name: "Delete the connection payments" }).click();
  await page.goto("/settings/secrets");
  await page.locator("summary", { hasText: "Delete… PAY_KEY" }).click();
  await page.getByRole("button", { name: "Delete the secret PAY_KEY" }).click();

  await page.goto("/settings/audit?action=secret");
  await expect(page.getByRole("cell", { name: "secret.deleted" }).first()).toBeVisible();
  await whole(page, "settings-audit");
  const file = await page.request.get("/api/v1/audit.csv?action=secret");
  expect(file.status()).toBe(200);
  expect(await file.text()).toContain("secret.put");
});
