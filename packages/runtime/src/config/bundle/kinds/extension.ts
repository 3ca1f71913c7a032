/** `kind: Extension` — a module that exports `register`. */
import { z } from 'zod';
import { config, entry, exclusive, jsonSchema, optional, resource } from './fields.ts';

export const extension = resource(
  'Extension',
  'A module that exports register and adds layers, tools and listeners to an agent.',
  z.strictObject({
    entry,
    config: config.optional(),
    configSchema: optional(
      jsonSchema,
      'JSON Schema for the config that results when the config of the agent or swarm is merged over the config here. Patterns and `$ref` are checked ' +
        'when the agent starts, everything else at once.',
    ),
    compat: optional(
      z.enum(['v010']),
      'The older version of the extension API that the module is written for. `v010`: the package @goondan/v010, which comes ' +
        'with @goondan/cli, runs the module unchanged.',
    ),
    innermost: optional(
      z.boolean(),
      'If true, the layers of this extension are inside the layers of all other extensions of the agent, whatever the ' +
        'priorities. Only hooks are further inside. Several such extensions are nested in the order of the list. Not for ' +
        '`Swarm.spec.extensions`, and not with `compat`.',
      false,
    ),
    exclusive,
  }),
);
