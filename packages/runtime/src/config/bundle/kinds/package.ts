/** `kind: Package` — what is published, and what it needs. */
import { z } from 'zod';
import { resource, text } from './fields.ts';

export const packageResource = resource(
  'Package',
  'What is published, and what it needs.',
  z.strictObject({
    version: text,
    description: z.string().optional(),
    dependencies: z
      .array(z.strictObject({ name: text.describe('The name of an npm package.'), version: text }))
      .optional(),
  }),
);
