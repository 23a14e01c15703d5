from world import *
class D:
    def __init__(s,world,ntop=15000,seed=11):
        s.w=world; rng=np.random.default_rng(seed); f=f'./km_{len(world.words)}_{world.X.shape[1]}.npz'
        n=min(ntop,len(world.words)); X=world.X[:n]
        if os.path.exists(f): z=np.load(f); s.child,s.par=z['child'],z['par']
        else:
            def km(X,k,it=15):
                C=X[rng.choice(len(X),k,replace=False)]
                for _ in range(it):
                    lab=np.argmax(X@C.T,1)
                    C=np.stack([X[lab==j].mean(0) if (lab==j).any() else X[rng.integers(len(X))] for j in range(k)]); C/=np.linalg.norm(C,axis=1,keepdims=True)
                return lab
            s.child=km(X,500); M=np.stack([X[s.child==j].mean(0) if (s.child==j).any() else np.zeros(X.shape[1]) for j in range(500)]); M/=np.maximum(np.linalg.norm(M,axis=1,keepdims=True),1e-9)
            pc=km(M,40); s.par=pc[s.child]; np.savez(f,child=s.child,par=s.par)
        W=np.array(world.words[:n]); s.W=W
        s.kids=[W[s.child==j].tolist() for j in range(500)]; s.kids=[k for k in s.kids if len(k)>=16]
        par_of={w:p for w,p in zip(W,s.par)}
        s.kp=[par_of[k[0]] for k in s.kids]
        s.kidsof={p:[i for i in range(len(s.kids)) if s.kp[i]==p] for p in set(s.kp)}
        s.parents=[W[s.par==p].tolist() for p in range(40) if (s.par==p).sum()>=60]
        s.nn={}
    def sizes(s,n,k): return list(k) if isinstance(k,tuple) else [n//k+(i<n%k) for i in range(k)]
    def near(s,w,m=10):
        if w not in s.nn:
            i=s.w.at[w]; c=s.w.X[:len(s.W)]@s.w.X[i]; o=np.argsort(-c)[1:m+1]; s.nn[w]=[s.w.words[j] for j in o]
        return s.nn[w]
    def side(s,how,n,k,rng):
        if how=='list':
            g=s.w.lists[rng.integers(10)]; m=min(n,*map(len,g)); return [rng.permutation(x)[:m].tolist() for x in g]
        if how=='random': p=rng.permutation(s.w.words)[:2*n].tolist(); return [p[:n],p[n:]]
        if how=='hood': # neighbourhoods of two random words
            out=[]
            for c in rng.choice(len(s.W),2,replace=False): out.append([s.W[c]]+s.near(s.W[c],24)[:n-1])
            return [list(map(str,o)) for o in out]
        if how=='parents':
            a,b=rng.choice(len(s.parents),2,replace=False); return [rng.permutation(s.parents[i])[:n].tolist() for i in (a,b)]
        if how=='within': # both from one parent, independent draws
            p=s.parents[rng.integers(len(s.parents))]; q=rng.permutation(p)[:2*n].tolist(); return [q[:n],q[n:]]
        if how=='kids':
            sz=s.sizes(n,k); c=rng.choice(len(s.kids),2*len(sz),replace=False)
            return [[w for i,m in zip(h,sz) for w in rng.permutation(s.kids[i])[:m].tolist()] for h in (c[:len(sz)],c[len(sz):])]
        if how=='ofone':
            sz=s.sizes(n,k); ok=[p for p in s.kidsof if len(s.kidsof[p])>=2*len(sz)]; p=ok[rng.integers(len(ok))]; c=rng.permutation(s.kidsof[p])[:2*len(sz)]
            return [[w for i,m in zip(h,sz) for w in rng.permutation(s.kids[i])[:m].tolist()] for h in (c[:len(sz)],c[len(sz):])]
        if how=='nested': # k=(super, sub each, words each)
            a,b,m=k; ok=[p for p in s.kidsof if len(s.kidsof[p])>=b]; ps=rng.choice(ok,2*a,replace=False); out=[]
            for h in (ps[:a],ps[a:]): out.append([w for p in h for i in rng.permutation(s.kidsof[p])[:b] for w in rng.permutation(s.kids[i])[:m].tolist()])
            return out
        if how=='fluency': # as people list words: with prob .7 a near neighbour (among 10) of the last word, else a new random word
            out=[];used=set()
            for _ in range(2):
                h=[]
                while len(h)<n:
                    c=s.near(h[-1]) if h and rng.random()<.7 else s.W
                    c=[x for x in c if x not in used] if len(c)<50 else c
                    if len(c)==0: c=s.W
                    x=str(c[rng.integers(len(c))])
                    if x not in used: used.add(x); h.append(x)
                out.append(h)
            return out
        if how=='one+rest': # one tight sub-topic of k words, the others random
            c=rng.choice(len(s.kids),2,replace=False); out=[]
            for i in c: out.append(rng.permutation(s.kids[i])[:k].tolist()+rng.permutation(s.W)[:n-k].tolist())
            return out
        raise ValueError(how)
    def homes(s,tk,ak,nt,na,kt,ka,rng):
        while True:
            T=s.side(tk,nt,kt,rng); A=s.side(ak,na,ka,rng); h=T+A; f=[w for x in h for w in x]
            if len(set(f))==len(f): return h
