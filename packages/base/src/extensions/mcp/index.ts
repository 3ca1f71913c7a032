/** What `gdn mcp` shares with the extension: the files both read, and what the extension keeps of withheld tools. */
export { APPROVALS_FILE, readApprovalsFile } from './approvals-file.ts';
export { cleanText } from './clean-text.ts';
export { expandVariables } from './expand-variables.ts';
export { checkEntry, MCP_FILE, readMcpFile, type ServerEntry, serversOf } from './mcp-file.ts';
export { readWithheld, type WithheldTool } from './tool-memory.ts';
