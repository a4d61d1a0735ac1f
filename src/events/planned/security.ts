import { awaited, reserved } from './plan.ts'

awaited('totp', [
  ['auth.totp.enabled', 'A second factor was switched on', 'user method'],
  ['auth.totp.disabled', 'A second factor was switched off', 'user method'],
  ['auth.totp.verified', 'A code of a second factor was accepted', 'user method'],
])

// `encryption.key.generated` is defined where DKIM keys are made.
awaited('encryption', [
  [
    'encryption.key.imported',
    'Somebody brought a key along',
    'user key_type fingerprint has_private',
  ],
])

reserved('encryption', [
  ['encryption.key.revoked', 'A key is no longer to be used', 'user key_type fingerprint'],
  ['encryption.message.encrypted', 'A message was encrypted', 'message_id user key_type'],
  ['encryption.message.decrypted', 'A message was decrypted', 'message_id user key_type'],
])

reserved('api', [
  ['auth.password.changed', 'A password was changed', 'user'],
  ['auth.api_key.created', 'An API key was issued', 'api_key_id name=billing organization_id'],
  ['auth.api_key.revoked', 'An API key was revoked', 'api_key_id name=billing organization_id'],
  ['security.auth.failure', 'A credential was refused', 'ip_address user? reason=password'],
  ['security.ip.whitelisted', 'An address is let in by a rule', 'ip_address domain cidr?'],
])

reserved('rspamd', [
  ['security.spam.detected', 'A message is spam', 'message_id sender recipient spam_score'],
  [
    'security.phishing.detected',
    'A message pretends to be from somebody else',
    'message_id sender recipient url?',
  ],
  [
    'security.virus.detected',
    'A message carries a virus',
    'message_id sender recipient virus_name',
  ],
  [
    'security.policy.violation',
    'A message breaks a policy',
    'message_id sender recipient policy_name',
  ],
])

reserved('url_protection', [
  ['url.rewritten', 'A link was led through the checker', 'original_url rewritten_url'],
  ['url.blocked', 'A link was not opened for its reader', 'url user? reason=phishing'],
  ['url.sandbox.result', 'The page behind a link was examined', 'url result'],
])
