/** Preloaded by `try-rule-mutant.ts`: Bun then loads the file of the mutant in `RULE_MUTANT` with its patch. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ruleMutants } from './rule-mutants.ts';

const mutant = ruleMutants.find(({ name }) => name === process.env['RULE_MUTANT']);
if (mutant === undefined) throw new Error('RULE_MUTANT is not the name of a mutant.');
const { name, file, find, replace } = mutant;
const path = join(import.meta.dir, '../..', file);
const text = readFileSync(path, 'utf8');
if (text.split(find).length !== 2)
  throw new Error(`mutant '${name}' does not fit: its text must occur once in ${file}`);

Bun.plugin({
  name: 'mutant',
  setup(build) {
    const filter = new RegExp(`^${RegExp.escape(path)}$`);
    build.onLoad({ filter }, () => ({ contents: text.replace(find, () => replace), loader: 'ts' }));
  },
});
