import { Fragment, type ReactNode, useEffect, useState } from 'react';
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter';
import { ApiContext } from './api/api-context.js';
import { ApiClient } from './api/client.js';
import { sentenceOf } from './api/failure.js';
import { Announcer } from './elements/telling/Announcer.js';
import { EmptyState } from './elements/telling/EmptyState.js';
import { Progress } from './elements/telling/Progress.js';
import { LiveProvider } from './live/LiveProvider.js';
import { QueueProvider } from './queue/QueueProvider.js';
import { Plain, Shell } from './Shell.js';
import { InboxScreen } from './screens/Inbox/Inbox.js';
import { InviteScreen } from './screens/Invite/Invite.js';
import { NotFoundScreen } from './screens/NotFound/NotFound.js';
import { PasswordScreen } from './screens/Password/Password.js';
import { ReviewScreen } from './screens/Review/Review.js';
import { SignInScreen } from './screens/SignIn/SignIn.js';
import { loginAddress } from './session/return-to.js';
import { SessionProvider } from './session/SessionProvider.js';
import { useSession } from './session/session-context.js';

export function App() {
  const [api] = useState(() => new ApiClient());
  return (
    <ApiContext.Provider value={api}>
      <Announcer>
        <Switch>
          <Route path="/login">
            <ForEachLink>
              <SignInScreen />
            </ForEachLink>
          </Route>
          <Route path="/invite">
            <ForEachLink>
              <InviteScreen />
            </ForEachLink>
          </Route>
          <Route>
            <ForPeople />
          </Route>
        </Switch>
      </Announcer>
    </ApiContext.Provider>
  );
}

/** A link that is opened where its screen is already changes nothing but the fragment: the screen begins again with what that holds. */
function ForEachLink({ children }: { children: ReactNode }) {
  const [opened, setOpened] = useState(0);
  useEffect(() => {
    const again = () => setOpened((before) => (location.hash === '' ? before : before + 1));
    addEventListener('hashchange', again);
    return () => removeEventListener('hashchange', again);
  }, []);
  return <Fragment key={opened}>{children}</Fragment>;
}

function ForPeople() {
  return (
    <SessionProvider
      loading={
        <Plain>
          <Progress label="Loading the inbox…" />
        </Plain>
      }
      signedOut={<ToSignIn />}
      failed={(error, retry) => (
        <Plain>
          <EmptyState
            whole
            title="The inbox could not be loaded"
            actions={
              <button type="button" className="button button-primary" onClick={retry}>
                Try again
              </button>
            }
          >
            <p role="alert">{sentenceOf(error)}</p>
          </EmptyState>
        </Plain>
      )}
    >
      <Screens />
    </SessionProvider>
  );
}

function ToSignIn() {
  const [path] = useLocation();
  const search = useSearch();
  return <Redirect to={loginAddress(search === '' ? path : `${path}?${search}`)} replace />;
}

function Screens() {
  const { me, project } = useSession();
  if (me.must_change_password) return <PasswordScreen />;
  return (
    <LiveProvider>
      <QueueProvider key={project.id}>
        <Shell>
          <Switch>
            <Route path="/" component={InboxScreen} />
            <Route path="/reviews">
              <Redirect to="/" replace />
            </Route>
            <Route path="/reviews/:id">{({ id }) => <ReviewScreen key={id} id={id} />}</Route>
            <Route component={NotFoundScreen} />
          </Switch>
        </Shell>
      </QueueProvider>
    </LiveProvider>
  );
}
