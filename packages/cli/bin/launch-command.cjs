/**
 * Builds the command that starts Bun as `gdn`. Nothing in the current folder may decide what runs, so Bun starts in
 * another folder, and the program gets the current folder as its first argument.
 */
'use strict';

const { programFlags } = require('@goondan/runtime/find-bun');
const { mainFile } = require('./program-file.cjs');

/** `folder` is the current folder; empty when it no longer exists. */
function launchCommand(bun, folder, args) {
  return { command: [bun, ...programFlags, mainFile(), folder, ...args], cwd: '/' };
}

module.exports = { launchCommand };
