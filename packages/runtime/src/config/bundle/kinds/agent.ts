/** `kind: Agent` — a model with a prompt, tools and extensions. */
import { z } from 'zod';
import { resourceNamePattern } from '../../resource-name.ts';
import { config, environment, listItem, reference, resource, text } from './fields.ts';
import { modelParams } from './model.ts';
import { turnPolicy } from './policy.ts';

/** A model that needs no settings of its own may be named by its provider. */
const modelReference = reference('Model|anthropic|openai|google');

const modelConfig = z
  .strictObject({
    modelRef: modelReference.describe(
      'The model its steps use. One that needs no settings may be named by its provider: `anthropic/…`, `openai/…`, `google/…`.',
    ),
    params: modelParams.optional().describe('Settings for this agent, before those of the model.'),
    models: z.array(modelReference).optional().describe('Further models that its extensions may call.'),
  })
  .describe('Which model answers.');

const prompt = z
  .strictObject({
    system: z.string().optional().describe('The first system message.'),
    systemRef: text.optional().describe('The file that holds it, inside the bundle. Not together with `system`.'),
  })
  .describe('What its model is told first.');

const otherName = text.meta({
  description:
    'What it is called here: its state, its layers and its tools have this name. So one can be listed twice.',
  pattern: resourceNamePattern.source,
});

export const extensionItem = listItem('Extension', {
  as: otherName.optional(),
  config: config.optional().describe("Merged over the resource's own: objects deep, the rest replaced."),
});

export const agent = resource(
  'Agent',
  'A model with a prompt, tools and extensions.',
  z.strictObject({
    description: z.string().optional().describe('What it is for: other agents read it.'),
    modelConfig,
    prompt: prompt.optional(),
    tools: z
      .array(listItem('Tool', { config: config.optional() }))
      .optional()
      .describe('What its model may call. `Tool/agents`, which nobody declares, lets it call the other agents.'),
    extensions: z.array(extensionItem).optional().describe('In order: the first is the outermost layer.'),
    policy: turnPolicy.optional(),
    environment: environment.optional(),
    workdir: text
      .optional()
      .describe('The folder its tools work in, relative to the bundle; where `gdn` was started, when absent.'),
  }),
);
