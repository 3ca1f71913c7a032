// Writes docs/errors.md from the error catalogue, so that the target of `helpUrl` and the code have the same text.
import { errorCatalogue } from '@goondan/types';
import { join } from 'node:path';

export const errorsPage = join(import.meta.dir, '..', 'docs', 'errors.md');

type Catalogue = Readonly<Record<string, { readonly meaning: string; readonly suggestion: string }>>;

/** Renders one heading for each code, in alphabetical order: its anchor is the code in lower case. */
export function renderErrorsPage(catalogue: Catalogue): string {
  const entries = Object.entries(catalogue).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const sections = entries.map(([code, { meaning, suggestion }]) => `## ${code}\n\n${meaning}\n\n${suggestion}\n`);
  return [introduction, ...sections].join('\n');
}

const introduction = `# Error codes

Every error that Goondan reports has one of these codes, a message with the details, and a suggestion. Here you find, for
each code, its meaning and then the suggestion. A code is never renamed, so programs may branch on it.

This page is generated from \`packages/types/src/errors\` by \`npm run errors:page\`.
`;

if (import.meta.main) {
  await Bun.write(errorsPage, renderErrorsPage(errorCatalogue));
  console.log(`Wrote ${Object.keys(errorCatalogue).length} codes to docs/errors.md`);
}
