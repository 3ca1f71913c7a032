/** `kind: Extension` — a module that exports `register`. */
import { z } from 'zod';
import { config, entry, jsonSchema, resource } from './fields.ts';

export const extension = resource(
  'Extension',
  'A module that exports register and hangs layers, tools and listeners into an agent.',
  z.strictObject({
    entry,
    config: config.optional(),
    configSchema: jsonSchema
      .optional()
      .describe(
        'JSON Schema of the config, as agents and swarms complete it. Patterns and `$ref` are checked when the agent starts, the rest at once.',
      ),
  }),
);
