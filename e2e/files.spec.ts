// A file goes in at a task's form and comes out on the task's and the execution's page.
import { expect, test } from "./quiet";

const definition = `apiVersion: weftline/v1
kind: Workflow
metadata:
  name: sign-contract
spec:
  activities:
    - id: sign
      type: human
      human:
        title: Sign the contract
        candidates: { users: [admin] }
        due: 1d
        form:
          type: object
          required: [contract, place]
          properties:
            contract: { type: object, x-file: { accept: [application/pdf], maxSize: 2KiB } }
            place: { type: string }
  output:
    contract: activities.sign.outputs.form.contract
`;

test("a start form tells all that is wrong at once, beside its fields, in the order of their declaration", async ({ page, expectNoise }) => {
  expectNoise(/422/);
  const api = { Authorization: `Bearer ${process.env.E2E_TOKEN}` };
  const text = `apiVersion: weftline/v1\nkind: Workflow\nmetadata: {name: start-form}\nspec:\n  input:\n    type: object\n    required: [who, amount]\n    properties:\n      zone: {type: string}\n      who: {type: string}\n      amount: {type: number, maximum: 50, default: 10}\n      stops: {type: array, items: {type: object, properties: {city: {type: string}, nights: {type: integer}}}}\n      pin: {type: string, x-sensitive: true}\n  activities:\n    - {id: go, type: set, outputs: {a: "1"}}\n`;
  const draft = await page.request.put("/api/v1/workflows/start-form/draft", { headers: { ...api, "Content-Type": "application/yaml", "If-None-Match": "*" }, data: text });
  expect(draft.ok(), await draft.text()).toBe(true);
  expect((await page.request.post("/api/v1/workflows/start-form/publish", { headers: api, data: {} })).status()).toBe(201);
  await page.goto("/workflows/start-form/run");
  expect(await page.locator("#run-form > .field > label, #run-form > fieldset > legend").allInnerTexts()).toEqual([expect.stringContaining("Zone"), "Who", "Amount", expect.stringContaining("Stops"), expect.stringContaining("Pin")]);
  await expect(page.getByLabel("Pin")).toHaveAttribute("type", "password");
  await page.getByRole("button", { name: "Add to Stops" }).click();
  await expect(page.getByLabel("City")).toBeFocused();
  await page.getByLabel("Amount").fill("90");
  await page.getByRole("button", { name: "Run version 1" }).click();
  await expect(page.getByText("2 things need your attention")).toBeVisible();
  await expect(page.locator(".field-invalid label")).toHaveText(["Who", "Amount"]);
  await expect(page.getByLabel("Amount")).toHaveValue("90");
});

test("a file of a form is checked, kept and read again", async ({ page, expectNoise }) => {
  expectNoise(/422/);
  const api = { Authorization: `Bearer ${process.env.E2E_TOKEN}` };
  const draft = await page.request.put("/api/v1/workflows/sign-contract/draft", {
    headers: { ...api, "Content-Type": "application/yaml", "If-None-Match": "*" },
    data: definition,
  });
  expect(draft.ok(), await draft.text()).toBe(true);
  expect((await page.request.post("/api/v1/workflows/sign-contract/publish", { headers: api, data: {} })).status()).toBe(201);

  await page.goto("/workflows/sign-contract/run");
  await page.getByRole("button", { name: "Run version 1" }).click();
  await page.getByRole("link", { name: "Open the task" }).first().click({ timeout: 60_000 });
  const chooser = page.getByLabel("Contract");
  await chooser.setInputFiles({ name: "scan.png", mimeType: "image/png", buffer: Buffer.from("picture") });
  await page.getByLabel("Place").fill("Bern");
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByRole("alert")).toContainText("image/png is not accepted");
  await expect(page.getByLabel("Place")).toHaveValue("Bern");

  await chooser.setInputFiles({ name: "big.pdf", mimeType: "application/pdf", buffer: Buffer.alloc(3000) });
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByRole("alert")).toContainText("at most 2048");

  // A file that fits stays chosen while something else of the form is wrong, and can be taken back.
  await chooser.setInputFiles({ name: "draft.pdf", mimeType: "application/pdf", buffer: Buffer.from("an earlier one") });
  await page.getByLabel("Place").fill("");
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByRole("link", { name: "draft.pdf" })).toBeVisible();
  await page.getByRole("button", { name: "Choose another Contract" }).click();
  await chooser.setInputFiles({ name: "contract.pdf", mimeType: "application/pdf", buffer: Buffer.from("we agree") });
  await page.getByLabel("Place").fill("Bern");
  await page.getByRole("button", { name: "Approve" }).click();

  await expect(page.getByText("What happened next")).toBeVisible();
  await expect(page.getByRole("link", { name: "contract.pdf" })).toBeVisible();
  await page.getByRole("link", { name: "Watch the execution" }).click();
  await expect(page.locator(".standing-first")).toContainText("Completed", { timeout: 60_000 });
  const link = page.locator("#execution-data").getByRole("link", { name: "contract.pdf" });
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  expect(download.suggestedFilename()).toBe("contract.pdf");
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).toString()).toBe("we agree");
});
