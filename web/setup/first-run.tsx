import { useEffect, useRef, useState } from 'preact/hooks'
import type { Get } from '../api/schema.ts'
import { useAddress } from '../lib/router.tsx'
import { Icon } from '../ui/icon.tsx'
import { check, mail } from '../ui/icons.ts'
import { DnsStep } from './dns-step.tsx'
import { DoneStep } from './done-step.tsx'
import { MailboxStep } from './mailbox-step.tsx'
import { OperatorStep } from './operator-step.tsx'
import { OrganizationStep } from './organization-step.tsx'
import { t } from './words.ts'

const STEPS = ['organization', 'operator', 'dns', 'mailbox', 'done'] as const
type Step = (typeof STEPS)[number]

/** Values that the steps pass on. Passwords are not part of it. */
export interface Progress {
  domain?: string
  email?: string
  /** The newest mailbox, for the test message. */
  mailbox?: string
  hasOperator: boolean
}

/** Leads through the first run: organization, operator, DNS, first mailbox. */
export function FirstRun({ state }: { state: Get['/bootstrap/']['data'] }) {
  const asked = useAddress().searchParams.get('step')
  const [step, setStep] = useState<Step>(() => firstStep(state, asked))
  const [progress, setProgress] = useState<Progress>({ hasOperator: state.operator === 'done' })
  const heading = useRef<HTMLDivElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    document.title = `${t.title} · ${t.steps[step]}`
    if (!isFirst.current) heading.current?.focus()
    isFirst.current = false
  }, [step])
  const next = (learned: Partial<Progress> = {}) => {
    const known = { ...progress, ...learned }
    setProgress(known)
    setStep(stepAfter(step, known))
  }
  return (
    <main class="sign-in">
      <div class="panel wide" ref={heading} tabIndex={-1}>
        <p class="brand">
          <Icon path={mail} size={22} />
          {t.title}
        </p>
        <Steps current={step} />
        {step === 'organization' && (
          <OrganizationStep file={state.token_files.organization} onDone={next} />
        )}
        {step === 'operator' && (
          <OperatorStep
            file={state.token_files.operator}
            onDone={() => next({ hasOperator: true })}
            onLater={() => next()}
          />
        )}
        {step === 'dns' && <DnsStep domain={progress.domain ?? ''} onDone={() => next()} />}
        {step === 'mailbox' && <MailboxStep progress={progress} onDone={next} />}
        {step === 'done' && <DoneStep progress={progress} />}
      </div>
    </main>
  )
}

function firstStep(state: Get['/bootstrap/']['data'], asked: string | null): Step {
  if (state.organization === 'open') return 'organization'
  return state.operator === 'open' && asked === 'operator' ? 'operator' : 'done'
}

/** DNS and the mailbox need the session that the organization step opened. */
function stepAfter(step: Step, { domain, hasOperator }: Progress): Step {
  if (step === 'organization' && hasOperator) return 'dns'
  if (step === 'operator' && !domain) return 'done'
  return STEPS[STEPS.indexOf(step) + 1] ?? 'done'
}

const Steps = ({ current }: { current: Step }) => (
  <ol class="progress" aria-label={t.progress}>
    {STEPS.map((step, index) => {
      const isDone = index < STEPS.indexOf(current)
      return (
        <li
          key={step}
          aria-current={step === current ? 'step' : undefined}
          class={isDone ? 'done' : ''}
        >
          <span aria-hidden="true">{isDone ? <Icon path={check} size={12} /> : index + 1}</span>
          {t.steps[step]}
        </li>
      )
    })}
  </ol>
)
