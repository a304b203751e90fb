package swap

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// instances finds the types that the generic constructors are made for in a
// program. A constructor may be called in a function that is generic itself, as in
// controller-runtime's controllers: what is made then depends on who calls that.
//
//	collect   in each function and type: which generic things it names, with which types
//	follow    from what is not generic on, with the types that were chosen
//
// It ends: the compiler refuses a program whose instances don't.
type instances struct {
	uses map[string][]use // by the generic thing whose body it is, "" for none
	of   map[string]map[string]types.Type
}

// A use is a generic thing with type arguments, which may be parameters of whatever
// it is used in.
type use struct {
	name      string
	arguments []types.Type
	params    []*types.TypeParam // of what it is used in
}

// findInstances returns the types, by the full name of the constructor.
func findInstances(all []*packages.Package, constructors []string) map[string][]types.Type {
	x := &instances{uses: map[string][]use{}, of: map[string]map[string]types.Type{}}
	for _, p := range all {
		x.collect(p)
	}
	x.follow("", nil, map[string]bool{})
	found := map[string][]types.Type{}
	for _, name := range constructors {
		for _, text := range slices.Sorted(maps.Keys(x.of[name])) {
			found[name] = append(found[name], x.of[name][text])
		}
	}
	return found
}

func (x *instances) collect(p *packages.Package) {
	if p.TypesInfo == nil {
		return
	}
	for _, file := range p.Syntax {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				owner, params := ownerOf(p, d)
				x.inside(p, d, owner, params)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					t, ok := spec.(*ast.TypeSpec)
					if !ok || t.TypeParams == nil {
						x.inside(p, spec, "", nil)
						continue
					}
					if named, ok := p.TypesInfo.Defs[t.Name].Type().(*types.Named); ok {
						x.inside(p, spec, fullName(named.Obj()), listOf(named.TypeParams()))
					}
				}
			}
		}
	}
}

// ownerOf is the generic thing that a function's body belongs to: the function, or
// its receiver's type.
func ownerOf(p *packages.Package, d *ast.FuncDecl) (string, []*types.TypeParam) {
	f, ok := p.TypesInfo.Defs[d.Name].(*types.Func)
	if !ok {
		return "", nil
	}
	signature := f.Signature()
	if params := signature.RecvTypeParams(); params.Len() > 0 {
		receiver := signature.Recv().Type()
		if pointer, ok := receiver.(*types.Pointer); ok {
			receiver = pointer.Elem()
		}
		if named, ok := receiver.(*types.Named); ok {
			return fullName(named.Obj()), listOf(params)
		}
	}
	if signature.TypeParams().Len() > 0 {
		return fullName(f), listOf(signature.TypeParams())
	}
	return "", nil
}

func (x *instances) inside(p *packages.Package, node ast.Node, owner string, params []*types.TypeParam) {
	ast.Inspect(node, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		instance, ok := p.TypesInfo.Instances[id]
		if !ok {
			return true
		}
		if object := p.TypesInfo.Uses[id]; object != nil && object.Pkg() != nil {
			u := use{name: fullName(object), params: params}
			for argument := range instance.TypeArgs.Types() {
				u.arguments = append(u.arguments, argument)
			}
			x.uses[owner] = append(x.uses[owner], u)
		}
		return true
	})
}

// follow notes what a generic thing with these arguments uses.
func (x *instances) follow(owner string, arguments []types.Type, seen map[string]bool) {
	for _, u := range x.uses[owner] {
		var chosen []types.Type
		var text strings.Builder
		for _, t := range u.arguments {
			t = substitute(t, u.params, arguments)
			chosen = append(chosen, t)
			text.WriteString(types.TypeString(t, nil) + ";")
		}
		key := u.name + "[" + text.String()
		if seen[key] {
			continue
		}
		seen[key] = true
		if len(chosen) == 1 {
			if x.of[u.name] == nil {
				x.of[u.name] = map[string]types.Type{}
			}
			x.of[u.name][text.String()] = chosen[0]
		}
		x.follow(u.name, chosen, seen)
	}
}

// substitute puts arguments in the place of parameters. Other than parameters
// themselves only what has them as its own arguments, and pointers, is followed.
func substitute(t types.Type, params []*types.TypeParam, arguments []types.Type) types.Type {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		for i, p := range params {
			if p == t && i < len(arguments) {
				return arguments[i]
			}
		}
	case *types.Pointer:
		return types.NewPointer(substitute(t.Elem(), params, arguments))
	case *types.Named:
		if t.TypeArgs().Len() == 0 {
			return t
		}
		var inner []types.Type
		for a := range t.TypeArgs().Types() {
			inner = append(inner, substitute(a, params, arguments))
		}
		if made, err := types.Instantiate(nil, t.Origin(), inner, false); err == nil {
			return made
		}
	}
	return t
}

func fullName(o types.Object) string {
	if o.Pkg() == nil {
		return o.Name()
	}
	return o.Pkg().Path() + "." + o.Name()
}

func listOf(params *types.TypeParamList) []*types.TypeParam {
	var list []*types.TypeParam
	for p := range params.TypeParams() {
		list = append(list, p)
	}
	return list
}

// hasParams reports whether a type is not chosen yet.
func hasParams(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Pointer:
		return hasParams(t.Elem())
	case *types.Array:
		return hasParams(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if hasParams(f.Type()) {
				return true
			}
		}
	case *types.Named:
		for a := range t.TypeArgs().Types() {
			if hasParams(a) {
				return true
			}
		}
	}
	return false
}
