/** Changes `./src/a/b.ts` to `./lib/a/b.js` in a text: the name that a module of this repository has in a tarball. */
export function compiledName(text: string): string {
  return text.replaceAll(/(?<=\.\/)src\/([\w./-]+)\.ts\b/g, 'lib/$1.js');
}
