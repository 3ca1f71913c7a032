/** The points of a turn at which a hook of `Agent.spec.hooks` can run, in the order of a turn. */
export const hookPoints = [
  'turn.pre',
  'turn.post',
  'step.pre',
  'step.config',
  'step.tools',
  'step.blocks',
  'step.llmCall',
  'step.llmError',
  'step.post',
  'toolCall.pre',
  'toolCall.exec',
  'toolCall.post',
] as const;

export type HookPoint = (typeof hookPoints)[number];
