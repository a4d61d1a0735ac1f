// Events that no feature defines yet. A feature that emits one declares it next to itself with
// `defineEvent`, which takes precedence, and deletes its line here; a test finds lines that are left.
import './mail.ts'
import './mailboxes.ts'
import './security.ts'
import './services.ts'
import './tenants.ts'
