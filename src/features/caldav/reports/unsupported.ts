import { Refusal } from '../protocol/answers.ts'

export const unsupported = () => new Refusal(403, '<D:supported-report/>')
