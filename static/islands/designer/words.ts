// How the forms are laid out: which texts are long, and which keys stand together.
// Labels, hints and examples come from the schema.

/** Texts that want several lines, by path or key. */
export const longTexts: ReadonlySet<string> = new Set(['description', 'inputs.text', 'inputs.html', 'inputs.prompt', 'stdin']);

/** Values that are maps of names to values wherever people use them. */
export const mapKeys: ReadonlySet<string> = new Set(['headers', 'query', 'variables']);

/** Groups that stand open also while nothing in them is set. */
export const openGroups: ReadonlySet<string> = new Set(['wait.timer', 'human.candidates']);

interface Named {
  title: string;
  keys: readonly string[];
  folded?: boolean;
}

/** Sections of an activity's form after its own block; the last takes every other key. */
export const activitySections: readonly Named[] = [
  { title: '', keys: ['when'] },
  { title: 'Outputs', keys: ['outputs'], folded: true },
  { title: 'When it fails', keys: ['onFailure', 'retry'], folded: true },
  { title: 'Time and repeats', keys: ['timeout', 'totalTimeout', 'queueTimeout', 'repeat'], folded: true },
  { title: 'What undoes it', keys: ['compensate'], folded: true },
  { title: 'More', keys: [], folded: true },
];

/** Sections of the workflow's settings, by keys of `spec`; the last takes every other key. */
export const workflowSections: readonly Named[] = [
  { title: 'Input', keys: ['input'] },
  { title: 'Output', keys: ['output'] },
  { title: 'Variables', keys: ['variables'], folded: true },
  { title: 'What starts it', keys: ['schedule', 'webhooks', 'events'], folded: true },
  { title: 'Limits', keys: ['limits'], folded: true },
  { title: 'Retry', keys: ['retry'], folded: true },
  { title: 'Undo', keys: ['compensation'], folded: true },
  { title: 'More', keys: [], folded: true },
];
