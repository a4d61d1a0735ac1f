import * as env from './env.ts'

const SECONDS = { min: 60, max: 31_536_000 }

export const oauthVariables = {
  OAUTH_ISSUER: env.url(
    'URL that programs know the OAuth service by, without a path; unset: SVC_PUBLIC_URL',
  ),
  ACCESS_TOKEN_TTL: env.integer('Seconds until an access token ends', 3600, SECONDS),
  REFRESH_TOKEN_TTL: env.integer(
    'Seconds until a refresh token ends that was not used',
    2_592_000,
    SECONDS,
  ),
  OAUTH_KEY_DAYS: env.integer('Days until another key signs identity tokens; 0: never', 90, {
    min: 0,
    max: 3650,
  }),
  OAUTH_REQUESTS_PER_MINUTE: env.integer(
    'Requests to the OAuth service per IP address and minute; more get 429',
    300,
    { min: 10 },
  ),
} as const
