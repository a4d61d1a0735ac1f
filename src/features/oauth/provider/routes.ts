/** The paths of the protocol. */
export const ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  introspection: '/oauth/introspect',
  revocation: '/oauth/revoke',
  code_verification: '/oauth/device',
  device_authorization: '/oauth/device/code',
  jwks: '/oauth/jwks',
  userinfo: '/oauth/userinfo',
} as const

export const INTERACTION = '/oauth/interaction'
