/**
 * The templates of `gdn init`, each with a first question that shows its features. Each is a folder in
 * `packages/cli/templates`, except `demo`, which is the bundle of `gdn demo`.
 */
export const firstQuestions = {
  default: 'What time is it in Asia/Seoul?',
  'multi-agent': 'Ask the researcher about tea',
  extension: 'How often have I been here?',
  minimal: 'What are you?',
  demo: 'What is the weather in Seoul for the next 30 days?',
} as const;

export type Template = keyof typeof firstQuestions;

// The cast is safe: these are the keys of an object literal.
export const templateNames = Object.keys(firstQuestions) as readonly Template[];
