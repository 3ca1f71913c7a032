/** The facts by which the model calls of a swarm are summed up. `gdn --help` loads them, so they have a file of their own. */
export const groupings = ['agent', 'model', 'day', 'conversation', 'extension'] as const;

export type Grouping = (typeof groupings)[number];
