/**
 * The parts of the extension that `gdn mcp` also uses: reading the two files, the withheld tools, a single connection to a
 * server, and its sign-in.
 */
export { APPROVALS_FILE, readApprovalsFile } from './approvals-file.ts';
export { cleanText } from '../../text/clean-text.ts';
export { expandVariables } from './expand-variables.ts';
export { checkEntry, MCP_FILE, readMcpFile, type ServerEntry, serversOf } from './mcp-file.ts';
export { type McpConfig, readSettings } from './mcp-settings.ts';
export { type ProbedServer, type ProbedTool, probeServer } from './probe-server.ts';
export { resolveTarget } from './resolve-target.ts';
export { CLEAR_TEXT, keepsSecrets } from './sign-in/clear-text.ts';
export { describeTarget, type HttpTarget } from './server-target.ts';
export { type PersonDeps, signInPerson } from './sign-in/sign-in-person.ts';
export { SignInFile } from './sign-in/sign-in-file.ts';
export { describeSignIn, type SignInStatus } from './sign-in/sign-in-status.ts';
export { type SignedOut, signOut } from './sign-in/sign-out.ts';
export { readWithheld, type WithheldTool } from './tool-memory.ts';
