// What a workflow without a draft begins with.

export function starterText(name: string): string {
  return `apiVersion: weftline/v1
kind: Workflow
metadata:
  name: ${name}
spec:
  input:
    type: object
    additionalProperties: false
  activities: []
`;
}
