/**
 * The parts of the extension that `gdn mcp` also uses: reading the two files, the withheld tools, and a single
 * connection to a server.
 */
export { APPROVALS_FILE, readApprovalsFile } from './approvals-file.ts';
export { cleanText } from '../../text/clean-text.ts';
export { expandVariables } from './expand-variables.ts';
export { checkEntry, MCP_FILE, readMcpFile, type ServerEntry, serversOf } from './mcp-file.ts';
export type { McpConfig } from './mcp-settings.ts';
export { type ProbedServer, type ProbedTool, probeServer } from './probe-server.ts';
export { readWithheld, type WithheldTool } from './tool-memory.ts';
