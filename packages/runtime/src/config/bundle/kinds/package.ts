/** `kind: Package` — what is published, and what it needs. */
import { z } from 'zod';
import { resource, text } from './fields.ts';

export const packageResource = resource(
  'Package',
  'What is published, and what it needs.',
  z.strictObject({
    version: text.describe('Its version.'),
    description: z.string().optional().describe('For people.'),
    dependencies: z
      .array(
        z.strictObject({
          name: text.describe('The name of an npm package.'),
          version: text.describe('Which versions of it, as npm writes them.'),
        }),
      )
      .optional()
      .describe('What it needs; one that is not installed is warned about.'),
  }),
);
