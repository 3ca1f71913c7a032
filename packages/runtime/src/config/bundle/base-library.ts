/** The library of tools, extensions and connectors that every bundle can use. */

/** The package whose resources every bundle can refer to without naming the package. */
export const BASE_LIBRARY = '@goondan/base';

/** The extension that runs the hooks of `Agent.spec.hooks`, even if the bundle declares another one of this name. */
export const HOOKS_EXTENSION = { kind: 'Extension', name: 'hooks', package: BASE_LIBRARY } as const;

/** The extension whose rules are checked, and which guards the agents that have it. */
export const APPROVAL_EXTENSION = { kind: 'Extension', name: 'approval', package: BASE_LIBRARY } as const;

/** The extension whose budgets are checked together with the models of its agents. */
export const BUDGET_EXTENSION = { kind: 'Extension', name: 'budget', package: BASE_LIBRARY } as const;
