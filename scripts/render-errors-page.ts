// Renders docs/errors.md from the error catalogue. So the page that `helpUrl` links to has the same text as the code.
import { join } from 'node:path';

export const errorsPage = join(import.meta.dir, '..', 'docs', 'errors.md');

type Catalogue = Readonly<
  Record<string, { readonly forPrograms?: true; readonly meaning: string; readonly suggestion: string }>
>;

/** Renders one heading for each code, in alphabetical order. The anchor of a heading is its code in lower case. */
export function renderErrorsPage(catalogue: Catalogue): string {
  const entries = Object.entries(catalogue).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const sections = entries.map(
    ([code, { forPrograms, meaning, suggestion }]) =>
      `## ${code}\n\n${meaning}\n\n${suggestion}\n${forPrograms === true ? '\nFor programs.\n' : ''}`,
  );
  const links = entries.flatMap(([code, { forPrograms }]) =>
    forPrograms === true ? [`- [${code}](#${code.toLowerCase()})`] : [],
  );
  return [introduction, '## Codes for programs\n', programs, `${links.join('\n')}\n`, ...sections].join('\n');
}

const introduction = `# Error codes

Every error that Goondan reports has one of these codes, a message with the details, and a suggestion. Here you find, for
each code, its meaning and then the suggestion. A code is never renamed.

This page is generated from \`packages/types/src/errors\` by \`npm run write\`.
`;

const programs = `A program can meet these codes at run time and act on them: wait, try again, choose another agent. Each keeps its meaning,
so you can branch on \`error.code\` after \`GoondanError.is(error)\`. In the catalogue they have \`forPrograms: true\`. All
other codes tell a person what to correct.
`;
