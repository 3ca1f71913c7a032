/** `kind: Agent` — a model with a prompt, tools and extensions. */
import { z } from 'zod';
import { resourceNamePattern } from '../../resource-name.ts';
import { config, environment, listItem, reference, resource, text } from './fields.ts';
import { modelParams } from './model.ts';
import { turnPolicy } from './policy.ts';

/** A model without a resource may be referred to by its provider. */
const modelReference = reference('Model|anthropic|openai|google');

const modelConfig = z
  .strictObject({
    modelRef: modelReference.describe(
      'The model for the steps of the agent. A model that needs no settings can be named by its provider: `anthropic/…`, ' +
        '`openai/…`, `google/…`.',
    ),
    params: modelParams.optional().describe('Settings for this agent; they override those of the model.'),
    models: z.array(modelReference).optional().describe('Other models that extensions of the agent may call.'),
  })
  .describe('The model and its settings.');

const prompt = z
  .strictObject({
    system: z.string().optional().describe('The first system message.'),
    systemRef: text
      .optional()
      .describe('A file with the system message, inside the bundle. Not together with `system`.'),
  })
  .describe('The instructions for the model.');

const otherName = text.meta({
  description:
    'The name at this agent, for its state, its layers and its tools. Set it to list the same extension twice.',
  pattern: resourceNamePattern.source,
});

export const extensionItem = listItem('Extension', {
  as: otherName.optional(),
  config: config
    .optional()
    .describe('Merged over the config of the resource: objects are merged deeply, everything else is replaced.'),
});

export const agent = resource(
  'Agent',
  'A model with a prompt, tools and extensions.',
  z.strictObject({
    description: z.string().optional().describe('The purpose of the agent, for other agents to read.'),
    modelConfig,
    prompt: prompt.optional(),
    tools: z
      .array(listItem('Tool', { config: config.optional() }))
      .optional()
      .describe('Tools for the model. `Tool/agents` is built in and lets the model call the other agents.'),
    extensions: z
      .array(extensionItem)
      .optional()
      .describe('The extensions in order: the first is the outermost layer.'),
    policy: turnPolicy.optional(),
    environment: environment.optional(),
    workdir: text
      .optional()
      .describe(
        'The working folder of the tools, relative to the bundle; when absent, the folder where `gdn` was started.',
      ),
  }),
);
