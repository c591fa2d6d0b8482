package web

import (
	"weftline/app/api"
	"weftline/app/auth"
	"weftline/app/login"
	"weftline/engine"
)

// peopleRoutes: everybody sees and ends their own sessions; the rest is for admins.
func peopleRoutes(a *api.API) []Route {
	return []Route{
		{Method: get, Path: "/sessions", Needs: auth.Read, Handle: a.Sessions,
			Says: "Lists your own sessions that are alive.", Answers: api.Page[api.SessionEntry]{}},
		{Method: remove, Path: "/sessions/:id", Needs: auth.Read, Handle: a.RevokeSession,
			Says: "Ends one of your sessions; an admin ends any of the team.", Status: 204},
		{Method: get, Path: "/access", Needs: auth.Read, Handle: a.Access,
			Says: "Explains your roles: which claim, which rule, which role.", Answers: api.AccessAnswer{}},
		{Method: post, Path: "/access/try", Needs: auth.Admin, Handle: a.TryAccess,
			Says: "Shows what the rules would make of claims; changes nothing.", Takes: api.ClaimsRequest{}, Answers: api.ClaimsAnswer{}},
		{Method: get, Path: "/access/check", Needs: auth.Admin, Handle: a.CheckLogin,
			Says: "Asks every identity provider whether sign-in will work.", Answers: api.Page[login.Check]{}},
		{Method: get, Path: "/people", Needs: auth.Admin, Handle: a.People,
			Says: "Lists the members of the team, with why they may do what they may.", Query: paging, Answers: api.Page[engine.MemberAccess]{}},
		{Method: put, Path: "/people/:id/roles", Needs: auth.Admin, Handle: a.GiveRoles,
			Says: "Sets the roles that a member has by hand, beside those of their claims.", Takes: api.RolesRequest{}, Status: 204},
		{Method: post, Path: "/people/:id/block", Needs: auth.Admin, Handle: a.BlockPerson,
			Says: "Shuts a member out of the team; sessions and tokens end at once.", Status: 204},
		{Method: post, Path: "/people/:id/unblock", Needs: auth.Admin, Handle: a.UnblockPerson, Says: "Lets a member in again.", Status: 204},
		{Method: post, Path: "/people/:id/sign-out", Needs: auth.Admin, Handle: a.SignOutPerson, Says: "Ends all sessions of a member in the team.", Status: 204},
		{Method: post, Path: "/people/:id/relink", Needs: auth.Admin, Handle: a.RelinkPerson,
			Says: "Lets the next sign-in under the member's name take the account over, for an hour.", Status: 204},
	}
}

const logoutTokenMax = 16 << 10 // bytes of a back-channel logout

// loginRoutes are the pages of sign-in, and what providers call. None of them can need a right before
// somebody is signed in.
func (p *Pages) loginRoutes() []Route {
	return []Route{
		{Method: get, Path: "/login", Needs: auth.Public, Handle: p.login},
		{Method: get, Path: "/login/:provider", Needs: auth.Public, Handle: p.beginLogin},
		{Method: get, Path: "/login/:provider/callback", Needs: auth.Public, Handle: p.finishLogin},
		{Method: post, Path: "/login/:provider/backchannel", Needs: auth.Public, Handle: p.backchannel, MaxBody: logoutTokenMax},
		{Method: get, Path: "/session", Needs: auth.Read, Handle: p.session},
		{Method: post, Path: "/logout", Needs: auth.Read, Handle: p.logout},

		{Method: get, Path: "/account", Needs: auth.Read, Handle: p.account},
		{Method: post, Path: "/account/team", Needs: auth.Read, Handle: p.switchTeam},
		{Method: post, Path: "/account/sessions/:id/revoke", Needs: auth.Read, Handle: p.revokeSession},
		{Method: get, Path: "/access", Needs: auth.Read, Handle: p.access},
		{Method: post, Path: "/access/try", Needs: auth.Admin, Handle: p.tryAccess},
		{Method: get, Path: "/access/check", Needs: auth.Admin, Handle: p.checkLogin},
		{Method: get, Path: "/people", Needs: auth.Admin, Handle: p.people},
		{Method: post, Path: "/people/:id/roles", Needs: auth.Admin, Handle: p.giveRoles},
		{Method: post, Path: "/people/:id/block", Needs: auth.Admin, Handle: p.blockPerson},
		{Method: post, Path: "/people/:id/unblock", Needs: auth.Admin, Handle: p.unblockPerson},
		{Method: post, Path: "/people/:id/sign-out", Needs: auth.Admin, Handle: p.signOutPerson},
		{Method: post, Path: "/people/:id/relink", Needs: auth.Admin, Handle: p.relinkPerson},
	}
}
