/** The error codes of model calls, their limits and their budgets. */
import type { CatalogueEntry } from './catalogue-entry.ts';

export const modelErrors = {
  E_BUDGET_EXCEEDED: {
    forPrograms: true,
    meaning: 'A model call does not fit into a budget of the extension `budget`, and nobody raised the budget.',
    suggestion:
      'Raise the budget that the message names in the config of the extension. A budget per day begins again at midnight in UTC.',
  },
  E_BUDGET_UNBOUNDED: {
    meaning:
      'A budget counts tokens or money, but a model of the agent has neither `params.maxTokens` nor a maximum in the price file, or it has no price.',
    suggestion:
      'For a missing maximum, set `params.maxTokens` of the Model that the message names. For a missing price, add the model to `prices` in the config of the extension.',
  },
  E_MODEL_AUTH: {
    forPrograms: true,
    meaning: 'The provider does not accept the key.',
    suggestion: 'Check the key that the message names, and its permissions.',
  },
  E_MODEL_CONTEXT: {
    forPrograms: true,
    meaning: "The conversation does not fit into the model's context window.",
    suggestion: 'Shorten the conversation (compaction, smaller tool results), or use a model with a larger window.',
  },
  E_MODEL_FAILED: {
    forPrograms: true,
    meaning: 'The model call failed.',
    suggestion: 'Read the message, which comes from the provider.',
  },
  E_MODEL_FILE: {
    forPrograms: true,
    meaning: 'The model does not take a file of the conversation. Nothing was sent.',
    suggestion:
      'Convert the file to a type that the model takes, or use another model. `docs/files.md` lists the types.',
  },
  E_MODEL_KEY: {
    meaning: 'The model has no API key.',
    suggestion: "Set the variable the message names, or the Model's `apiKey`.",
  },
  E_MODEL_LIMIT: {
    forPrograms: true,
    meaning: 'A model call waited too long for the limits of its model, or too many calls wait for them.',
    suggestion:
      'Raise the limit of `Model.spec.limits` that the message names, if the provider allows it, or give the swarm less work at a time.',
  },
  E_MODEL_NO_RULE: {
    meaning: 'No rule of the scripted model matches the newest message.',
    suggestion: 'Add a rule without `when` and `afterTool` at the end of the script: such a rule always matches.',
  },
  E_MODEL_REPLY: {
    meaning: "The model's answer cannot be read as a reply, or has an unknown field.",
    suggestion: 'If this repeats, the endpoint probably uses another format than the configured provider.',
  },
  E_MODEL_REQUEST: {
    meaning: '`ctx.model.generate` was called without a valid request.',
    suggestion:
      'Pass `{ messages: [{ role, content }, …] }`. `ctx.conversationState.toLlmMessages()` returns the conversation in this form.',
  },
  E_MODEL_SCRIPT: {
    meaning: 'The script of a scripted model is malformed.',
    suggestion: 'Correct the rule the message names.',
  },
  E_MODEL_TIMEOUT: {
    forPrograms: true,
    meaning: 'The model sent nothing for too long, or the whole call took too long.',
    suggestion: 'Try again; if the timeout repeats, check the provider or the endpoint.',
  },
  E_MODEL_UNKNOWN: {
    meaning: 'A model reference names a model that this agent does not have.',
    suggestion: 'Use one of the names that the message lists.',
  },
} as const satisfies Record<string, CatalogueEntry>;
