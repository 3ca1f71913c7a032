/** `kind: Package` — the name under which a bundle is published, and the packages it needs. */
import { z } from 'zod';
import { optional, resource, text } from './fields.ts';

export const packageResource = resource(
  'Package',
  'The name and needs of a published package.',
  z.strictObject({
    version: text.describe('Its version.'),
    description: optional(z.string(), 'For people.'),
    dependencies: z
      .array(
        z.strictObject({
          name: text.describe('The name of an npm package.'),
          version: text.describe('The allowed versions, as npm writes them.'),
        }),
      )
      .optional()
      .describe('Packages that this package needs; a missing package causes a warning.'),
  }),
);
