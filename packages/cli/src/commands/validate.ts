import type { Command } from 'commander';
import { addBundleOptions, bundleFolder, type BundleOptions } from '../common-options.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printJson } from '../print-json.ts';
import type { Terminal } from '../terminal.ts';

export function addValidateCommand(program: Command, terminal: Terminal, finish: (code: ExitCode) => void): void {
  const command = program
    .command('validate')
    .argument('[folder]', 'the folder of the bundle (default: the current one)')
    .summary('check a bundle without running it')
    .description(
      'Reads every YAML file of a bundle and lists all errors: the place, the problem, and the fix. The bundle is ' +
        'not run, so a tool of `defineTool` is listed as "schema in code" and is checked when an agent starts. Exits with ' +
        '4 when there is an error; warnings do not change the exit code.',
    );
  addBundleOptions(command)
    .addHelpText('after', '\nExample:\n  $ gdn validate my-swarm')
    .action(async (argument: string | undefined, options: BundleOptions) => {
      finish(await validate(bundleFolder(argument, options), options.json === true, terminal));
    });
}

async function validate(folder: string, json: boolean, terminal: Terminal): Promise<ExitCode> {
  const [{ readBundle }, { countProblems, printProblems }] = await Promise.all([
    import('../bundle/open-bundle.ts'),
    import('../bundle/print-problems.ts'),
  ]);
  const bundle = await readBundle(folder);
  const { valid, errors, warnings, resources } = bundle;
  const schemaInCode = resources.flatMap((each) =>
    each.kind === 'Tool' && each.resource.spec.exports === undefined ? [each.identity] : [],
  );
  if (json) {
    printJson({ valid, errors, warnings, ...(schemaInCode.length > 0 && { schemaInCode }) }, terminal);
  } else {
    printProblems(bundle, folder, terminal);
    const resourceCount = resources.length === 1 ? '1 resource' : `${resources.length} resources`;
    for (const tool of schemaInCode) terminal.print(`${tool}: schema in code, checked when an agent starts.\n`);
    terminal.print(`${bundle.folder}: ${resourceCount}, ${countProblems(bundle)}.\n`);
  }
  return valid ? exitCodes.ok : exitCodes.invalid;
}
