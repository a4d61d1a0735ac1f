/** What the secrets of endpoints are sealed for. */
export const ENDPOINT_SECRET = 'webhook endpoint secret'
