/** The form of resource names. A name becomes part of paths and of tool names, so no other characters are allowed. */
export const resourceNamePattern = /^[a-z][a-z0-9-]{0,62}$/;
