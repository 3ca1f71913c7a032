import { bundleFolder, type BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import type { GdnCommand } from '../gdn-command.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';

export function addValidateCommand(program: GdnCommand): void {
  program
    .command('validate')
    .argument('[folder]', 'the folder of the bundle (default: the current one)')
    .summary('check a bundle without running it')
    .description(
      'Reads every YAML file of a bundle and lists all errors: the place, the problem, and the fix. The bundle is ' +
        'not run, so a tool in code is listed as "schema in code" and is checked when an agent starts. Exits with ' +
        '4 when there is an error; warnings do not change the exit code.',
    )
    .bundleOptions()
    .examples('gdn validate my-swarm')
    .readsBundle('look')
    .runs(validate);
}

async function validate(options: BundleOptions, terminal: Terminal, argument?: string): Promise<ExitCode> {
  const [{ readBundle }, { countProblems, printProblems }] = await Promise.all([
    import('../bundle/open-bundle.ts'),
    import('../bundle/print-problems.ts'),
  ]);
  const folder = bundleFolder(argument, options);
  const bundle = await readBundle(folder);
  const { valid, errors, warnings, resources, scope } = bundle;
  const schemaInCode = resources.flatMap((each) =>
    each.kind === 'Tool' && each.resource.spec.exports === undefined ? [each.identity] : [],
  );
  if (options.json === true) {
    printJson({ valid, errors, warnings, ...(schemaInCode.length > 0 && { schemaInCode }) }, terminal);
  } else {
    printProblems(bundle, folder, terminal);
    // Only the documents of the bundle itself count, the broken ones too; the author did not write those of packages.
    const written = scope.resources.filter(({ isImplied }) => isImplied !== true).length + scope.broken.length;
    const resourceCount = written === 1 ? '1 resource' : `${written} resources`;
    for (const tool of schemaInCode) terminal.print(`${tool}: schema in code, checked when an agent starts.\n`);
    terminal.print(`${bundle.folder}: ${resourceCount}, ${countProblems(bundle)}.\n`);
  }
  return valid ? exitCodes.ok : exitCodes.invalid;
}
