// The forms: made from the server's schema, so every type and every key has a field,
// and what a form does not know stays as it is.
import { expect, test } from "./quiet";
import { DesignerPage, draftOf, openText, workflow } from "./designer-page";

interface Schema {
  "x-types"?: string[];
  "x-with"?: { key: string; values: string[] };
  properties: Record<string, Schema>;
  enum?: string[];
  $defs: Record<string, Schema>;
}

test("every activity type has a form with every key that means something to it", async ({ page }) => {
  test.slow();
  const schema = (await (await page.request.get("/api/v1/schema/workflow.json")).json()) as Schema;
  const types = schema.$defs.activity!.properties.type!.enum!;
  await openText(page, workflow(types.map((t) => `- id: a_${t}\n  type: ${t}\n`).join("")));
  const designer = new DesignerPage(page);
  const common = Object.keys(schema.$defs.activity!.properties).filter((key) => !["id", "type", "name", "needs", "join"].includes(key));
  for (const type of types) {
    await page.keyboard.press("Escape");
    await designer.fit();
    await designer.card(`a_${type}`).click();
    await expect(page.locator(".ds-form-head h2")).toHaveText(`a_${type}`);
    const fields = await page.locator(".ds-form .ds-field").evaluateAll((all) => all.map((f) => (f as HTMLElement).dataset.path!));
    const own = Object.keys(schema.$defs[`type.${type}`]!.properties).filter((key) => key !== "activities" && key !== "activity");
    const given = (key: string) => page.locator(`.ds-field[data-path="inputs.${key}"] select`).inputValue();
    const open: string[] = [];
    for (const key of own) {
      const needs = schema.$defs[`type.${type}`]!.properties[key]!["x-with"];
      if (!needs || needs.values.includes(await given(needs.key))) open.push(key);
    }
    expect(own.length - open.length, `${type}: what its language or mode leaves out`).toBe(type === "script" ? 5 : 0); // no language is chosen yet
    for (const key of open) expect(fields.filter((f) => f === `inputs.${key}` || f === `${type}.${key}`), `${type}: ${key}`).toHaveLength(1);
    for (const key of common) {
      const means = schema.$defs.activity!.properties[key]!["x-types"]?.includes(type) ?? true;
      expect(fields.some((f) => f === key || f.startsWith(`${key}.`)), `${type}: ${key}`).toBe(means);
    }
  }
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Settings" }).click();
  const settings = await page.locator(".ds-form .ds-field").evaluateAll((all) => all.map((f) => (f as HTMLElement).dataset.path!));
  const drawn = ["activities", "transitions", "onError", "onExit"];
  for (const key of Object.keys(schema.properties.spec!.properties).filter((k) => !drawn.includes(k))) {
    expect(settings.some((f) => f === `spec.${key}` || f.startsWith(`spec.${key}.`)), key).toBe(true);
  }
});

test("nested keys are written where they belong, and nothing beside them moves", async ({ page }) => {
  const name = await openText(page, workflow(`
- id: call
  type: http   # the shop
  inputs:
    url: "https://shop.example"
    x-note: kept
  retry: 3
  compensate:
    type: http
    inputs: {url: "https://shop.example/undo"} # takes it back
`));
  const designer = new DesignerPage(page);
  const before = await draftOf(page, name);
  await designer.card("call").click();
  await expect(page.locator(".ds-rest-item")).toHaveText([/inputs\.x-note/]);
  await expect(designer.field("retry.attempts")).toHaveValue("3");
  await expect(designer.field("compensate.inputs.url")).toHaveValue("https://shop.example/undo");
  const auth = page.locator('.ds-field[data-path="inputs.auth"]');
  await auth.locator("summary").first().click();
  await designer.field("inputs.auth.type").selectOption("bearer");
  await designer.field("inputs.auth.token").fill("${{ secrets.SHOP }}");
  await expect(designer.field("inputs.auth.password")).toHaveCount(0); // a bearer has none
  await designer.field("retry.delay").fill("5");
  await designer.field("compensate.inputs.url").fill("https://shop.example/back");
  await designer.saved();
  const after = await draftOf(page, name);
  expect(after).toMatch(/auth: \{type: bearer, token: .*secrets\.SHOP/);
  expect(after).toContain("type: http   # the shop");
  expect(after).toContain("x-note: kept");
  expect(after).toContain("# takes it back");
  expect(after).toContain("delay: 5s");
  for (let i = 0; i < 5 && (await page.getByRole("button", { name: "Undo" }).isEnabled()); i++) await page.getByRole("button", { name: "Undo" }).click();
  await designer.saved();
  expect(await draftOf(page, name)).toBe(before);
});

test("triggers, limits and an input field are made in the settings", async ({ page }) => {
  const name = await openText(page, workflow("- id: go\n  type: set\n  outputs: {a: \"1\"}\n"));
  const designer = new DesignerPage(page);
  await page.locator(".ds-section > summary", { hasText: "What starts it" }).click();
  await page.locator('.ds-field[data-path="spec.schedule"]').getByRole("button", { name: "+ Add" }).click();
  await designer.field("spec.schedule.0.cron").fill("0 6 * * 1");
  await designer.field("spec.schedule.0.timezone").fill("Europe/Berlin");
  await page.locator(".ds-section > summary", { hasText: "Limits" }).click();
  await designer.field("spec.limits.maxConcurrent").fill("4");
  await designer.field("spec.limits.timeout").fill("3d");
  await designer.field("spec.limits.timeout").blur();
  await expect(designer.field("spec.limits.timeout")).toHaveValue("3");
  await page.getByLabel("Longest execution: unit").selectOption("hours");
  await page.getByLabel("Stop at the first failure").uncheck();
  const input = page.locator('.ds-field[data-path="spec.input"]');
  await input.getByRole("button", { name: "+ Add a field" }).click();
  await input.getByLabel("Name").fill("amount");
  await input.getByText("More about this field").click();
  await input.getByLabel("Help").fill("In euros");
  await designer.saved();
  const text = await draftOf(page, name);
  expect(text).toContain("cron: 0 6 * * 1");
  expect(text).toContain("timezone: Europe/Berlin");
  expect(text).toContain("maxConcurrent: 4");
  expect(text).toContain("timeout: 3h");
  expect(text).toContain("failFast: false");
  expect(text).toContain("description: In euros");
});
