/** The tables of records for people: traces, runtime events and log lines, in chunks. */
export const recordTables = `
`;
