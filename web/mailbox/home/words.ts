const en = {
  title: 'Home',
  address: 'Your address',
  storage: 'Storage',
  storageLabel: 'Storage used',
  lastLogin: 'Last sign-in',
  now: 'What is on',
  vacation: 'Vacation reply',
  forwarding: 'Forwarding',
  twoFactor: 'Second factor',
  on: 'On',
  off: 'Off',
  programs: 'Settings for mail programs',
  programsHint: 'Phone, tablet or computer: enter these values where the program asks for them.',
  username: 'User name',
  usernameHint:
    'Your whole address. The password is the one you sign in with here, or an app password. With a second factor it must be an app password.',
  profile: 'Profile for iPhone, iPad and Mac',
  profileHint:
    'Sets up the account by itself and asks for your password. Thunderbird and Outlook need only your address.',
  use: 'For',
  server: 'Server',
  port: 'Port',
  encryption: 'Encryption',
  protocols: { imap: 'Reading (IMAP)', pop3: 'Reading (POP3)', smtp: 'Sending (SMTP)' },
  tls: 'SSL/TLS',
  starttls: 'STARTTLS',
}

const de: typeof en = {
  title: 'Start',
  address: 'Ihre Adresse',
  storage: 'Speicher',
  storageLabel: 'Belegter Speicher',
  lastLogin: 'Letzte Anmeldung',
  now: 'Was eingeschaltet ist',
  vacation: 'Abwesenheitsantwort',
  forwarding: 'Weiterleitung',
  twoFactor: 'Zweiter Faktor',
  on: 'An',
  off: 'Aus',
  programs: 'Einstellungen für Mailprogramme',
  programsHint:
    'Telefon, Tablet oder Computer: Geben Sie diese Werte ein, wo das Programm danach fragt.',
  username: 'Benutzername',
  usernameHint:
    'Ihre ganze Adresse. Das Passwort ist das, mit dem Sie sich hier anmelden, oder ein App-Passwort. Mit einem zweiten Faktor muss es ein App-Passwort sein.',
  profile: 'Profil für iPhone, iPad und Mac',
  profileHint:
    'Richtet das Konto von selbst ein und fragt nach Ihrem Passwort. Thunderbird und Outlook brauchen nur Ihre Adresse.',
  use: 'Für',
  server: 'Server',
  port: 'Port',
  encryption: 'Verschlüsselung',
  protocols: { imap: 'Lesen (IMAP)', pop3: 'Lesen (POP3)', smtp: 'Senden (SMTP)' },
  tls: 'SSL/TLS',
  starttls: 'STARTTLS',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
