/** Runs `gdn` in a checkout: the built program if it is up to date, otherwise the sources. It needs Bun. */
'use strict';

const { programFile } = require('./program-file.cjs');

const program = programFile('main');
// Bun starts two threads for an `import()`, so the built program is loaded without one.
if (program.endsWith('.js')) require(program);
else void import(program);
