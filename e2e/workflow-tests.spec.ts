// The test cases of a workflow: listed on its page, run with one click, results and coverage.
import { expect, test } from "./quiet";

const auth = { Authorization: `Bearer ${process.env.E2E_TOKEN}` };

test("the tests of an example run with one click", async ({ page }) => {
  await page.goto("/workflows/order-saga");
  const section = page.locator("#workflow-tests");
  await expect(section.getByRole("row")).toHaveCount(3);
  await section.getByRole("button", { name: "Run the tests" }).click();
  await expect(page.getByRole("heading", { name: "All 2 cases passed" })).toBeVisible();
  await expect(page.locator(".tests-percent")).toContainText("100%");
  await expect(page.getByText("Compensated")).toBeVisible();
});

test("a case that fails says what differs and in which line", async ({ page, request }) => {
  const text = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: tested}
spec:
  activities:
    - {id: ask, type: human, human: {title: Sure?, candidates: {users: [ann]}, due: 1h}}
    - {id: say, type: set, needs: [ask.rejected], outputs: {word: '"no"'}}
---
apiVersion: weftline/v1
kind: WorkflowTest
metadata: {name: tested}
spec:
  cases:
    - name: rejected
      script: [{at: 5m, human: ask, outcome: rejected, by: ann}]
      expect: {path: [ask], duration: 10m}
`;
  const saved = await request.put("/api/v1/workflows/tested/draft", {
    headers: { ...auth, "Content-Type": "application/yaml", "If-None-Match": "*" }, data: text,
  });
  expect(saved.status()).toBe(200);
  await page.goto("/workflows/tested/tests");
  await page.getByRole("button", { name: "Run the tests" }).click();
  const differs = page.locator(".tests-differs");
  await expect(differs.nth(0)).toContainText("Expectedask");
  await expect(differs.nth(0)).toContainText("Gotask → say");
  await expect(differs.nth(1)).toContainText("Expected10m");
  await expect(differs.nth(1)).toContainText("Got5m");
  await expect(page.getByText("ask.approved, ask.expired")).toBeVisible();
  if (process.env.E2E_SHOTS) {
    for (const [name, width, scheme] of [["light", 1440, "light"], ["dark", 1440, "dark"], ["phone", 360, "light"]] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 800 });
      await page.screenshot({ path: `${process.env.E2E_SHOTS}/tests-${name}.png`, fullPage: true });
    }
  }
});

test("an execution is kept as the first test, and passes", async ({ page, request }) => {
  const text = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: kept-one}
spec:
  input: {type: object, properties: {amount: {type: integer, default: 7}}}
  activities:
    - {id: double, type: script, inputs: {language: javascript, source: "return {total: input.a * 2}", input: {a: "\${{ inputs.amount }}"}}}
    - {id: say, type: set, needs: [double], outputs: {total: activities.double.outputs.output.total}}
  output: {total: activities.say.outputs.total} # a comment that stays
`;
  const saved = await request.put("/api/v1/workflows/kept-one/draft", {
    headers: { ...auth, "Content-Type": "application/yaml", "If-None-Match": "*" }, data: text,
  });
  expect(saved.status()).toBe(200);
  expect((await request.post("/api/v1/workflows/kept-one/publish", { headers: auth, data: {} })).status()).toBe(201);
  await page.goto("/workflows/kept-one/tests");
  await expect(page.getByText("No tests yet")).toBeVisible();
  await page.getByRole("link", { name: "Run it once" }).click();
  await page.getByRole("button", { name: "Run version 1" }).click();
  await expect(page.locator(".standing-first")).toContainText("Completed", { timeout: 60_000 });

  await expect(page.getByRole("button", { name: "Keep as a test" })).toBeVisible();
  await page.goto("/workflows/kept-one/tests");
  await page.getByRole("button", { name: "Keep as a test" }).click();
  await expect(page.getByRole("status").filter({ hasText: "Kept as the test" })).toBeVisible();
  await page.getByRole("button", { name: "Run the tests" }).click();
  await expect(page.getByRole("heading", { name: "The case passed" })).toBeVisible();
  const draft = await (await request.get("/api/v1/workflows/kept-one/draft", { headers: auth })).text();
  expect(draft.startsWith(text)).toBe(true);
  expect(draft).toContain("total: 14");

  // Once more over the API, under a name; what has not ended is refused with the reason.
  const started = await (await request.post("/api/v1/workflows/kept-one/executions", { headers: auth, data: { input: { amount: 4 } } })).json();
  await expect.poll(async () => (await (await request.get(`/api/v1/executions/${started.id}`, { headers: auth })).json()).status).toBe("completed");
  const again = await request.post(`/api/v1/executions/${started.id}/keep-test`, { headers: auth, data: { name: "eight" } });
  expect(again.status(), await again.text()).toBe(201);
  expect(await again.json()).toMatchObject({ workflow: "kept-one", name: "eight", result: { passed: true, status: "completed" } });
});
