import { measureParts } from './parts.ts'

// Measures the services around the content of mail.
await measureParts('content')
