"""The additive posterior, from values with general words alone."""
import numpy as np
from scipy.special import gammaincinv, gammainc, ndtr
from scipy.stats import qmc, t as student
from functools import lru_cache
LISTS,LONGEST=200,60
@lru_cache
def sobol(d,n): return qmc.Sobol(d,scramble=True,seed=1).random(n)
class General:
    def __init__(s,X):
        N=len(X); Xc=X-X.mean(0); s.X=X; s.mean=X.mean(0); s.Xc=Xc
        Y=Xc@Xc.T; s.K=Y@Y/N; s.raw=X@X.T; s.N=N
        s.tr2=(Y**2).sum()/N**2-(np.trace(Y)/N)**2/N; s.D=((Y**2).sum()/N**2)**2/((s.K**2).sum()/N**2)
        s._r={}
    def lam(s,G):  # eigenvalues of centred gram, descending, n-1
        H=G-G.mean(-1,keepdims=True)-G.mean(-2,keepdims=True)+G.mean((-1,-2),keepdims=True)
        return np.linalg.eigvalsh(H)[...,::-1][...,:-1].clip(1e-15)
    def random(s,n):
        n=min(n,LONGEST)
        if n not in s._r:
            rng=np.random.default_rng(n); idx=np.array([rng.choice(s.N,n,replace=False) for _ in range(LISTS)])
            x=lambda M:(lambda l:l[:,0]/l.mean(1))(s.lam(np.stack([M[np.ix_(i,i)] for i in idx])))
            raw,pref=x(s.raw),x(s.K); s._r[n]=dict(raw=(raw.mean(),raw.std()),pref=(pref.mean(),pref.std()))
        return s._r[n]
def spike(x,b):
    g=(np.sqrt(b)-1)**2; x=max(x,b); h=x+1-g; return (h+np.sqrt(max(h*h-4*x,0)))/2
def homes(groups,classes,G,z='raw',common=None,cap=1.25,slope=3,z0=3.5):
    """for each of 4 homes: n,q,r,lam df,I,s2 ; e, bias"""
    sides=[groups,classes]; m=[[x.mean(0) for x in side] for side in sides]; d=[(m[1][0]-m[1][1])/2,(m[0][0]-m[0][1])/2]
    out=[]
    for k,side in enumerate(sides):
        q=((G.Xc@d[k])**2).mean()
        lam=[];grams=[]
        for x in side: A=x@G.Xc.T; g=A@A.T/G.N; lam.append(G.lam(g)); grams.append(A)
        apart=((G.Xc@(m[k][0]-m[k][1]))**2).mean(); R=apart/sum(l.mean()/len(x) for l,x in zip(lam,side))
        share=1.
        if common:
            kk,c=common; Z=np.concatenate([A-A.mean(0) for A in grams]); n=[len(x) for x in side]
            u,s_,vt=np.linalg.svd(Z,full_matrices=False); l=s_**2/(sum(n)-2); Dm=grams[0].mean(0)-grams[1].mean(0)
            S=np.mean([(Dm@vt[j])**2/(l[j]*(1/n[0]+1/n[1])) for j in range(min(kk,len(l)))]); share=min(1,S/c)
        for x,l in zip(side,lam):
            n=len(x); rd=G.random(n); top=l[0]/l.mean()
            if z=='raw': lr=G.lam(x@x.T); zz=(lr[0]/lr.mean()-rd['raw'][0])/rd['raw'][1]
            else: zz=(top-rd['pref'][0])/rd['pref'][1]
            w=1/(1+np.exp(-slope*(zz-z0))); I=max(1,min(1+w*(spike(top,rd['pref'][0])-1),cap*R)); I=1+(I-1)*share
            out.append(dict(n=n,q=q,r=l.mean()/G.tr2,df=l.sum()**2/(l**2).sum(),I=I,s2=(x@d[k]).var(ddof=1),w=w,side=k,share=share))
    ss=0;dfe=0
    for x in groups:
        for y in classes:
            Y=x@y.T; ss+=((Y-Y.mean(0)-Y.mean(1)[:,None]+Y.mean())**2).sum(); dfe+=(len(x)-1)*(len(y)-1)
    bias=(m[0][0]-m[0][1])@(m[1][0]-m[1][1])/2
    return out,ss/dfe,dfe,bias
def rule(H,e,dfe,bias,G,share=.75):
    v=[];df=[]
    for h in H:
        s2=(G.D*h['r']*h['q']+h['df']*h['s2'])/(G.D+h['df']); v.append(s2*h['I']/h['n']); df.append(1/(1/(G.D+h['df'])+2*h['w']/G.D))
    v=np.array(v);df=np.array(df);I=np.array([h['I'] for h in H]);n=[h['n'] for h in H]
    E=e/4*sum(1/(a*b) for a in n[:2] for b in n[2:])*(I[:2].mean()*I[2:].mean())**share; t,a=v[:2].sum(),v[2:].sum(); V=max(t,a,t+a-E); DF=V**2/(v**2/df).sum()
    return 2*student.sf(abs(bias)/V**.5,DF),student.isf(.025,DF)*V**.5
def post(H,e,dfe,bias,G,df='df',sure=False,Ires=1.,n_points=512,scale=1.,form='add',cI=True):
    """additive posterior; returns p, half width"""
    n=[h['n'] for h in H]; U=sobol(9,n_points); I=[]
    from scipy.special import gammaincinv as gi
    E2=dfe*e/2/gi(dfe/2,1-U[:,8])  # residual variance draws
    for k,h in enumerate(H):
        I.append(np.full(n_points,h['I']) if sure else 1+(h['I']-1)*(G.D/4)/gi(G.D/4,U[:,4+k]))
    It=(I[0]+I[1])/2;Ia=(I[2]+I[3])/2
    V=E2/4*sum(1/(a*b) for a in n[:2] for b in n[2:])*(It*Ia)**Ires
    logw=0
    for k,h in enumerate(H):
        others=n[2:] if k<2 else n[:2]; Io=(Ia if k<2 else It) if cI else 1.
        c=E2/4*sum(1/o for o in others)*Io
        f=h['df'] if df=='df' else h['n']-1
        B0=G.D*h['r']*h['q']*scale; B=B0+f*h['s2']; a0,a=G.D/2,(G.D+f)/2
        Fp,F=gammainc(a0,B0/2/c),gammainc(a,B/2/c)
        tau2=B/2/gi(a,np.clip(U[:,k]*F,1e-300,1))
        logw=logw+np.log(F+1e-300)-np.log(Fp+1e-300)
        V=V+np.maximum(tau2-c,0)*I[k]/h['n']
    w=np.exp(logw-np.max(logw)); w/=w.sum()
    sd=np.sqrt(V); p=(w*2*ndtr(-abs(bias)/sd)).sum()
    lo,hi=0,12*sd.max()
    for _ in range(50):
        mid=(lo+hi)/2
        if (w*ndtr(-mid/sd)).sum()>.025: lo=mid
        else: hi=mid
    return p,(lo+hi)/2
def quasi_f(groups,classes,H,e,bias):
    n=[h['n'] for h in H]; v=np.array([h['s2']/h['n'] for h in H]); E=e/4*sum(1/(a*b) for a in n[:2] for b in n[2:])
    num=v.sum(); V=max(num-E,1e-12)
    # Clark F' = (t + a - E); df Satterthwaite
    V=max(v[:2].sum(),v[2:].sum(),v.sum()-E) if False else max(v.sum()-E,min(v[:2].sum(),v[2:].sum())*0+1e-12)
    df=V**2/sum(x**2/(m-1) for x,m in zip(v,n))
    return 2*student.sf(abs(bias)/V**.5,df),student.isf(.025,df)*V**.5
def cens(H,e,dfe,bias,G,df='n',sure=False,Ires=1.,n_points=512,scale=1.,cI=True,D=None,resI=True):
    """tau2 free, sigma2 = max(tau2 - c, 0); likelihood chi2 of s2 about max(tau2, c_plain)"""
    n=[h['n'] for h in H]; U=sobol(9,n_points); I=[]; D=D or G.D
    from scipy.special import gammaincinv as gi
    E2=dfe*e/2/gi(dfe/2,1-U[:,8])
    for k,h in enumerate(H): I.append(np.full(n_points,h['I']) if sure else 1+(h['I']-1)*(G.D/4)/gi(G.D/4,U[:,4+k]))
    It=(I[0]+I[1])/2;Ia=(I[2]+I[3])/2
    V=E2/4*sum(1/(a*b) for a in n[:2] for b in n[2:])*((It*Ia)**Ires)
    logw=0
    for k,h in enumerate(H):
        others=n[2:] if k<2 else n[:2]; Io=(Ia if k<2 else It) if cI else 1.
        c=E2/4*sum(1/o for o in others)*Io
        f=h['df'] if df=='df' else h['n']-1
        B0=D*h['r']*h['q']*scale; B=B0+f*h['s2']; a0,a=D/2,(D+f)/2
        # posterior: below c: prior mass times L(c); above: conjugate
        # invchi2: density of tau2 prop tau2^-(a0+1) exp(-B0/2tau2); L(v)=v^(-f/2) exp(-f s2/2v)
        logLc=-f/2*np.log(c)-f*h['s2']/2/c
        from scipy.special import gammaln
        logm=a0*np.log(B0/2)-gammaln(a0)+gammaln(a)-a*np.log(B/2)   # integral of prior*L over all tau2
        above=np.exp(logm)*gammainc(a,B/2/c); below=np.exp(logLc)*(1-gammainc(a0,B0/2/c))
        Z=above+below; u=U[:,k]*Z
        zero=u<below; F=gammainc(a,B/2/c)
        uu=np.clip((u-below)/np.maximum(above,1e-300),1e-12,1-1e-12)
        tau2=B/2/gi(a,np.clip((1-uu)*F,1e-300,1)); s=np.where(zero,0,np.maximum(tau2-c,0))
        logw=logw+np.log(Z)
        V=V+s*I[k]/h['n']
    w=np.exp(logw-np.max(logw)); w/=w.sum(); sd=np.sqrt(V); p=(w*2*ndtr(-abs(bias)/sd)).sum()
    lo,hi=0,12*sd.max()
    for _ in range(40):
        mid=(lo+hi)/2
        if (w*ndtr(-mid/sd)).sum()>.025: lo=mid
        else: hi=mid
    return p,(lo+hi)/2
